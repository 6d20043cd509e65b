/**
 * The cheapest vendor for a benchmark: no pages, no state. The cost of a flow at the broker is then
 * not hidden behind its cost at the vendor. Not a model of any real server.
 *
 * Also a program: `node src/stub-vendor.ts PORT` prints one JSON line with `url` and serves until
 * it is ended.
 */
import { randomBytes } from "node:crypto";
import { createIdTokenSigner } from "./vendors/id-tokens.ts";
import { type ScriptedAnswer, type Respond, type ScriptedRequest, startScriptedVendor } from "./scripted-vendor.ts";

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
 * Client credentials are not checked. A code `NONCE.…` and a refresh token `rt-openid-…` are of the
 * scope `openid` too: their answer has an ID token, signed with the RS256 key at `/jwks`.
 *
 * @param options.port default 0: a free one
 */
export async function startStubVendor({ port = 0 }: { readonly port?: number } = {}): Promise<StubVendor> {
  const counts = new Map<string, number>();
  const counted =
    (respond: (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>): Respond =>
    (request) => {
      counts.set(request.path, (counts.get(request.path) ?? 0) + 1);
      return respond(request);
    };
  const idTokens = createIdTokenSigner();
  const script = {
    "/authorize": counted(authorize),
    "/token": counted(async (request) => token(request, async (claims) => idTokens.sign({ iss: url, ...claims }))),
    "/jwks": counted(async () => ({ body: await idTokens.jwks() })),
    "/revoke": counted(() => ({})),
  };
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
  const nonce = query.get("nonce");
  const code = nonce === null ? random() : `${nonce}.${random()}`;
  const answer = new URLSearchParams({ code, state: query.get("state") ?? "" });
  return { status: 303, headers: { Location: `${redirectUri}?${answer.toString()}` } };
}

type Sign = (claims: Readonly<Record<string, unknown>>) => Promise<string>;

async function token({ form, headers }: ScriptedRequest, sign: Sign): Promise<ScriptedAnswer> {
  const code = form.has("code_verifier") ? form.get("code") : null;
  const refreshToken = form.get("refresh_token");
  if (code === null && refreshToken === null) return { status: 400, body: { error: "invalid_request" } };
  const tokens = { access_token: `at-${random()}`, token_type: "Bearer", expires_in: 3600 };
  const [nonce, ...isOpenid] = (code ?? "").split(".");
  if (isOpenid.length === 0 && refreshToken?.startsWith(OPENID) !== true) {
    return { body: { ...tokens, refresh_token: `rt-${random()}`, scope: "read write" } };
  }
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: "user-1", aud: clientIdOf(headers.authorization), iat, exp: iat + 3600 };
  return {
    body: {
      ...tokens,
      refresh_token: `${OPENID}${random()}`,
      scope: "openid read write",
      id_token: await sign(code === null ? claims : { ...claims, nonce }),
    },
  };
}

const OPENID = "rt-openid-";

function clientIdOf(authorization = ""): string {
  const [clientId = ""] = Buffer.from(authorization.slice("Basic ".length), "base64").toString().split(":");
  return decodeURIComponent(clientId);
}

function random(): string {
  return randomBytes(24).toString("base64url");
}

// The name is checked too: in a bundle of one file every module is the main one.
if (import.meta.main && import.meta.filename.endsWith("stub-vendor.ts")) {
  const { url } = await startStubVendor({ port: Number(process.argv[2] ?? 0) });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
