/**
 * A fake vendor that accepts any code: no pages, no state. The cost of a flow at the broker is then
 * not hidden behind its cost at the vendor. A code `NONCE.…` and a refresh token `rt-openid-…` are
 * of the scope `openid` too: their answer has an ID token, signed with the RS256 key at `/jwks`.
 */
import { randomBytes } from "node:crypto";
import { machineClock } from "../clock.ts";
import { refusal, type ScriptedAnswer, type ScriptedRequest } from "../scripted-vendor.ts";
import { createIdTokenSigner } from "../vendors/id-tokens.ts";

export function createAnyCode(issuer: string) {
  const idTokens = createIdTokenSigner("any code");
  return {
    /** Random tokens for a code with its verifier, and for a refresh token. */
    token: async (request: ScriptedRequest) =>
      token(request, async (claims) => idTokens.sign({ iss: issuer, ...claims })),
    paths: { "/authorize": authorize, "/jwks": async () => ({ body: await idTokens.jwks() }) },
  };
}

/** Sends the browser back at once. */
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
  if (code === null && refreshToken === null) return refusal("invalid_request");
  const tokens = { access_token: `at-${random()}`, token_type: "Bearer", expires_in: 3600 };
  const [nonce, ...isOpenid] = (code ?? "").split(".");
  if (isOpenid.length === 0 && refreshToken?.startsWith(OPENID) !== true) {
    return { body: { ...tokens, refresh_token: `rt-${random()}`, scope: "read write" } };
  }
  const iat = machineClock();
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
