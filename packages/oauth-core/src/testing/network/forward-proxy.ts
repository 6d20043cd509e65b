/**
 * A forward proxy on loopback, as companies have one: `CONNECT` alone. Every name leads to one port
 * of this machine, so that a test can reach `vendor.example`.
 */
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { Secret } from "../../protocol/secret.ts";
import type { TestCertificate } from "./certificates.ts";
import { listen } from "./listen.ts";

export interface ForwardProxy {
  readonly port: number;
  /** Its URL, with the credentials that it asks for. */
  readonly url: Secret;
  /** The authorities that it was asked for, refused ones among them. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface ForwardProxyOptions {
  /** `user:password` that it asks for. */
  readonly credentials?: string;
  /** What it writes instead of a tunnel; nothing for an empty text. */
  readonly instead?: string;
  /** It uses TLS itself. */
  readonly certificate?: TestCertificate;
}

/** @param to the port that every name leads to */
export async function startForwardProxy(
  to: number,
  { credentials, instead, certificate }: ForwardProxyOptions = {},
): Promise<ForwardProxy> {
  const asked: string[] = [];
  const server = certificate === undefined ? createServer() : createTlsServer(certificate);
  server.on("connect", (request, socket: Socket) => {
    asked.push(request.url ?? "");
    socket.on("error", () => undefined);
    const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
    if (wanted !== undefined && request.headers["proxy-authorization"] !== wanted) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
      return;
    }
    if (instead !== undefined) {
      if (instead !== "") socket.write(instead);
      return;
    }
    const onward = connect({ port: to, host: "127.0.0.1" }, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    socket.on("close", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  const { port, close } = await listen(server);
  const user = credentials === undefined ? "" : `${credentials.split(":").map(encodeURIComponent).join(":")}@`;
  return {
    port,
    url: new Secret(`${certificate === undefined ? "http" : "https"}://${user}127.0.0.1:${port}`),
    asked,
    close,
  };
}
