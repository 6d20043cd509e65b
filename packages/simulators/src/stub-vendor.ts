/**
 * The cheapest vendor for a benchmark: no OpenID, no pages, no state. The cost of a flow at the
 * broker is then not hidden behind its cost at the vendor. Not a model of any real server.
 *
 * Also a program: `node src/stub-vendor.ts PORT` prints one JSON line with `url` and serves until
 * it is ended.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "./listen.ts";

export interface StubVendor {
  readonly url: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  /** Requests answered so far, by path. */
  counts(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

const KEEP_ALIVE_SECONDS = 60;

/**
 * `/authorize` redirects the browser back at once with `code` and `state`; `/token` returns random
 * tokens for any form with `code` and `code_verifier`, or `refresh_token`; `/revoke` answers 200.
 * Client credentials are not checked.
 *
 * @param options.port default 0: a free one
 */
export async function startStubVendor(options: { readonly port?: number } = {}): Promise<StubVendor> {
  const listening = await listen(options.port ?? 0);
  const { server, url } = listening;
  server.keepAliveTimeout = KEEP_ALIVE_SECONDS * 1000;
  const counts = new Map<string, number>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "/";
    const end = target.indexOf("?");
    const path = end === -1 ? target : target.slice(0, end);
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (path === "/authorize") {
      request.resume();
      authorize(new URLSearchParams(target.slice(end + 1)), response);
      return;
    }
    readBody(request, (body) => {
      if (path === "/token") token(new URLSearchParams(body), response);
      else response.writeHead(path === "/revoke" ? 200 : 404, { "Content-Length": 0 }).end();
    });
  });
  return {
    url,
    authorizationEndpoint: `${url}/authorize`,
    tokenEndpoint: `${url}/token`,
    revocationEndpoint: `${url}/revoke`,
    counts: () => Object.fromEntries(counts),
    close: () => listening.close(),
  };
}

function authorize(query: URLSearchParams, response: ServerResponse): void {
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === null || !query.has("code_challenge")) {
    response.writeHead(400, { "Content-Length": 0 }).end();
    return;
  }
  const answer = new URLSearchParams({ code: random(), state: query.get("state") ?? "" });
  response.writeHead(303, { Location: `${redirectUri}?${answer.toString()}`, "Content-Length": 0 }).end();
}

function token(form: URLSearchParams, response: ServerResponse): void {
  const isCode = form.has("code") && form.has("code_verifier");
  const isComplete = isCode || form.has("refresh_token");
  const body = isComplete
    ? `{"access_token":"at-${random()}","token_type":"Bearer","expires_in":3600,"refresh_token":"rt-${random()}","scope":"read write"}`
    : '{"error":"invalid_request"}';
  response
    .writeHead(isComplete ? 200 : 400, { "Content-Type": "application/json", "Content-Length": body.length })
    .end(body);
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => done(body));
}

function random(): string {
  return randomBytes(24).toString("base64url");
}

// The name is checked too: in a bundle of one file every module is the main one.
if (import.meta.main && import.meta.filename.endsWith("stub-vendor.ts")) {
  const { url } = await startStubVendor({ port: Number(process.argv[2] ?? 0) });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
