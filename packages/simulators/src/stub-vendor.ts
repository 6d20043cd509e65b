/**
 * The cheapest vendor for a benchmark: no OpenID, no pages, no state. The cost of a flow at the
 * broker is then not hidden behind its cost at the vendor. Not a model of any real server.
 *
 * Also a program: `node src/stub-vendor.ts PORT` prints one JSON line with `url` and serves until
 * it is ended.
 */
import { randomBytes } from "node:crypto";
import { type ScriptedAnswer, type ScriptedRequest, startScriptedVendor } from "./scripted-vendor.ts";

export interface StubVendor {
  readonly url: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  /** Requests answered so far, by path. */
  counts(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/**
 * `/authorize` redirects the browser back at once with `code` and `state`; `/token` returns random
 * tokens for any form with `code` and `code_verifier`, or `refresh_token`; `/revoke` answers 200.
 * Client credentials are not checked.
 *
 * @param options.port default 0: a free one
 */
export async function startStubVendor({ port = 0 }: { readonly port?: number } = {}): Promise<StubVendor> {
  const counts = new Map<string, number>();
  const counted =
    (respond: (request: ScriptedRequest) => ScriptedAnswer) =>
    (request: ScriptedRequest): ScriptedAnswer => {
      counts.set(request.path, (counts.get(request.path) ?? 0) + 1);
      return respond(request);
    };
  const script = { "/authorize": counted(authorize), "/token": counted(token), "/revoke": counted(() => ({})) };
  const { url, close } = await startScriptedVendor(script, { port, keepsRequests: false });
  return {
    url,
    authorizationEndpoint: `${url}/authorize`,
    tokenEndpoint: `${url}/token`,
    revocationEndpoint: `${url}/revoke`,
    counts: () => Object.fromEntries(counts),
    close,
  };
}

function authorize({ query }: ScriptedRequest): ScriptedAnswer {
  const redirectUri = query.get("redirect_uri");
  if (redirectUri === null || !query.has("code_challenge")) return { status: 400 };
  const answer = new URLSearchParams({ code: random(), state: query.get("state") ?? "" });
  return { status: 303, headers: { Location: `${redirectUri}?${answer.toString()}` } };
}

function token({ form }: ScriptedRequest): ScriptedAnswer {
  const isCode = form.has("code") && form.has("code_verifier");
  if (!isCode && !form.has("refresh_token")) return { status: 400, body: { error: "invalid_request" } };
  return {
    body: {
      access_token: `at-${random()}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: `rt-${random()}`,
      scope: "read write",
    },
  };
}

function random(): string {
  return randomBytes(24).toString("base64url");
}

// The name is checked too: in a bundle of one file every module is the main one.
if (import.meta.main && import.meta.filename.endsWith("stub-vendor.ts")) {
  const { url } = await startStubVendor({ port: Number(process.argv[2] ?? 0) });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
