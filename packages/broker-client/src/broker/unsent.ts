/**
 * Whether a request that failed can have arrived: only what certainly has not may be repeated.
 * Runtimes say it each in their own way, and Cloudflare's does not say it at all.
 */

/** By the codes of Node.js, undici and Bun. Any other failure may have come after the request. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|CERT_\w+|UNABLE_TO_\w+|\w*SELF_SIGNED\w*|ConnectionRefused|FailedToOpenSocket)$/;
/** Deno has no code: the sentence of its HTTP library names the step that failed. */
const DENO_NO_CONNECTION = /: client error \(Connect\)/;

/** @returns whether nothing of the request left this process; oauth-core's egress says so itself */
export function isUnsent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, sent, message, cause } = error as Readonly<Record<string, unknown>>;
  if (sent === false || (typeof code === "string" && NO_CONNECTION.test(code))) return true;
  return (typeof message === "string" && DENO_NO_CONNECTION.test(message)) || isUnsent(cause);
}

/** What Cloudflare's `connect` returns, as far as we use it. */
interface Socket {
  readonly opened: Promise<unknown>;
  close(): Promise<void>;
}

/** Of `cloudflare:sockets`. */
export type Connect = (address: { readonly hostname: string; readonly port: number }) => Socket;

const CONNECT_MS = 2_000;

/**
 * For Cloudflare's runtime, whose fetch says "Network connection lost." whether the broker took the
 * connection or not: asks again by a connection alone. It says how things are now; a broker that
 * ended after it had the request looks the same, and then refuses what was spent.
 *
 * @param connect of the runtime; undefined in every other
 */
export async function refusesConnections(url: string | URL, connect: Connect | undefined): Promise<boolean> {
  if (connect === undefined) return false;
  const { protocol, hostname, port } = new URL(url);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const socket = connect({ hostname, port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port) });
    const late = new Promise<true>((resolve) => {
      timer = setTimeout(() => resolve(true), CONNECT_MS);
    });
    await Promise.race([socket.opened, late]);
    await socket.close();
    return false;
  } catch {
    return true;
  } finally {
    clearTimeout(timer);
  }
}

/** @returns undefined in any other runtime than Cloudflare's */
export async function connectOfRuntime(): Promise<Connect | undefined> {
  // Node.js 20 has none.
  const { navigator } = globalThis as Partial<typeof globalThis>;
  if (navigator?.userAgent !== "Cloudflare-Workers") return undefined;
  // Not a literal: bundlers of other runtimes would look for it.
  const name = ["cloudflare", "sockets"].join(":");
  return import(name).then(
    ({ connect }: { readonly connect: Connect }) => connect,
    () => undefined,
  );
}
