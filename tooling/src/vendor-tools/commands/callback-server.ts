/** Receives the callback of the vendor during `vendor try`: one path on loopback, one answer. */
import { listen } from "../../../../packages/simulators/src/listen.ts";
import { refusal, WRONG } from "../refusal.ts";

export interface CallbackServer {
  readonly port: number;
  /**
   * Settles with the parameters of the first callback.
   * @throws Refusal without a callback in time
   */
  wait(path: string, seconds: number): Promise<URLSearchParams>;
  close(): Promise<void>;
}

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  connection: "close",
};

/**
 * @param port 0 for a free one
 * @throws Refusal when it is taken
 */
export async function startCallbackServer(port: number): Promise<CallbackServer> {
  let onCallback: ((url: URL) => boolean) | undefined;
  const { server, close, ...listening } = await listen(port).catch((error: unknown) => {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw refusal(
      `Cannot listen on 127.0.0.1:${port} (${reason}). Choose another port with --port, and register that one`,
    );
  });
  server.on("request", (request, response) => {
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
    const isOurs = request.method === "GET" && url !== null && onCallback?.(url) === true;
    response.writeHead(isOurs ? 200 : 404, HEADERS);
    response.end(isOurs ? "The answer was received. You can close this window.\n" : "There is no page here.\n");
  });
  return {
    port: listening.port,
    close,
    wait: (path, seconds) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(refusal(`No callback within ${seconds} seconds. Run the command again`, WRONG)),
          seconds * 1000,
        );
        onCallback = (url) => {
          const isAnswer = url.searchParams.has("code") || url.searchParams.has("error");
          if (url.pathname !== path || !isAnswer) return false;
          clearTimeout(late);
          onCallback = undefined;
          resolve(url.searchParams);
          return true;
        };
      }),
  };
}
