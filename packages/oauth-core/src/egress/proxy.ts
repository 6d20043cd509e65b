/**
 * The operator's forward proxy. Only `CONNECT`: the proxy sees a name and a port, and TLS with the
 * vendor's certificate runs through it. It resolves the name, so that no address can be checked
 * here: index.ts sends only names from the configuration and its vendors' metadata through it.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import type { Secret } from "../protocol/secret.ts";
import { isPrivateName } from "./address-ranges.ts";
import { egressError } from "./errors.ts";
import { bareHost, isLoopbackHost } from "./url.ts";

/** Where the proxy is, and as whom it is asked. */
export interface EgressProxy {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/**
 * @param text `http://proxy.example:3128`, or https, with user name and password before the host
 *   if the proxy asks for them
 * @returns undefined for anything else
 */
export function parseProxy(text: string): EgressProxy | undefined {
  const url = /^https?:\/\/[^\s/?#]+\/?$/.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === "") return undefined;
  const isTls = url.protocol === "https:";
  const credentials = credentialsOf(url);
  if (credentials === undefined) return undefined;
  return {
    hostname: bareHost(url),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    isTls,
    authorization: credentials === "" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/** What is wrong with the URL of a proxy, as the end of a sentence; undefined for a good one. */
export function checkProxy(text: string): string | undefined {
  return parseProxy(text) === undefined
    ? "must be an http or https URL of host and port, with user name and password if the proxy asks for them"
    : undefined;
}

/** @returns undefined if they cannot be decoded */
function credentialsOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return "";
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return undefined;
  }
}

/** @throws Error without the text, which may hold a password */
export function proxyOf(secret: Secret | undefined): EgressProxy | undefined {
  if (secret === undefined) return undefined;
  const proxy = parseProxy(secret.reveal());
  if (proxy === undefined) throw new Error("the proxy is not an http or https URL of host and port");
  return proxy;
}

/**
 * How a host is reached if there is a proxy. Private names and addresses are inside the
 * operator's networks, and loopback is this machine: no proxy knows them. A public address is never
 * asked of it: what it connects to is then a name that someone vouches for.
 */
export function wayTo(hostname: string): "proxy" | "direct" | "refused" {
  if (isLoopbackHost(hostname)) return "direct";
  //= bar#EG-11
  if (isIP(hostname) !== 0) return "refused";
  return isPrivateName(hostname) ? "direct" : "proxy";
}

/** More than any proxy says. */
const MAX_ANSWER_BYTES = 16_384;
const ANSWERED = /\r?\n\r?\n/;

/**
 * Opens a tunnel. Until it stands nothing is sent to the target, so that each failure leaves what
 * was to be sent as good as before.
 *
 * @param callback once: with the socket, or with an EgressError that names the proxy and what it
 *   answered
 * @returns ends the attempt, whose callback is then not called any more
 */
export function openTunnel(
  proxy: EgressProxy,
  target: { readonly hostname: string; readonly port: number },
  secureContext: SecureContext,
  callback: (...opened: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
): () => void {
  const { hostname: host, port, isTls, authorization } = proxy;
  const socket = isTls
    ? connectTls({
        host,
        port,
        secureContext,
        rejectUnauthorized: true,
        ...(isIP(host) === 0 ? { servername: host } : {}),
      })
    : connectTcp({ host, port });
  let received = "";
  const settle = (): void => {
    socket.removeAllListeners("data").removeAllListeners("error").removeAllListeners("close");
  };
  const fail = (what: string): void => {
    settle();
    socket.on("error", () => undefined).destroy();
    callback(egressError("connect", false, `proxy ${host}:${port}: ${what}`), null);
  };
  socket.setNoDelay(true);
  socket.once(isTls ? "secureConnect" : "connect", () => {
    const authority = `${target.hostname}:${target.port}`;
    const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
    if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
  socket.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
  socket.on("close", () => fail("closed the connection"));
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    const end = ANSWERED.exec(received);
    if (end === null) {
      if (received.length > MAX_ANSWER_BYTES) fail("answered without end");
      return;
    }
    const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(received) ?? [];
    if (status === undefined) return fail("did not answer with HTTP");
    //= bar#VR-5
    if (!status.startsWith("2")) return fail(`answered ${status}`);
    // A server that sends first is not one of TLS.
    //= bar#EG-10
    if (received.length > end.index + end[0].length) return fail("sent more than its answer");
    settle();
    callback(null, socket);
  });
  return () => {
    settle();
    socket.on("error", () => undefined).destroy();
  };
}
