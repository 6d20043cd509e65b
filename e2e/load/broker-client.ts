/**
 * What one connection repeats: a whole flow, as the platform's backend and the user's browser would
 * perform it, or one refresh. Every answer is checked, so that a server that does less than it
 * should counts as broken, not as fast.
 */
import { hash } from "node:crypto";
import { fakeCode } from "@oauth-broker/simulators";
import { type Connection, expectStatus, members, random, type Reply, unexpected } from "./connection.ts";
import type { Parties } from "./services.ts";

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The broker's name for what minted the tokens; the floor has none. */
  readonly connection?: string;
}

/** `nonce`: only at a vendor that issues ID tokens. */
type AtVendor = Readonly<Record<"state" | "cookie", string>> & { readonly nonce: string | undefined };

const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

export type Actor = ReturnType<typeof createActor>;
/**
 * What it does throws an Error at the first wrong answer.
 * @param url the address of the subject
 */
export function createActor(url: string, { clientId, clientSecret, redirectUri, vendor }: Parties) {
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`,
  });
  const credentials = basic(clientSecret);

  const actor = {
    /** The legs of a flow one by one. */
    async push(connection: Connection) {
      const state = random();
      const codeVerifier = random();
      const form = {
        response_type: "code",
        client_id: clientId,
        vendor: vendor.id,
        redirect_uri: redirectUri,
        code_challenge: hash("sha256", codeVerifier, "base64url"),
        code_challenge_method: "S256",
        state,
        scope: vendor.scope,
      };
      const reply = await connection.post("/v1/par", form, credentials);
      const { request_uri: requestUri, expires_in } = members(reply, 201);
      if (typeof requestUri !== "string" || !requestUri.startsWith(REQUEST_URI) || expires_in !== 300)
        throw unexpected(reply);
      return { requestUri, state, codeVerifier };
    },
    async leave(connection: Connection, { requestUri }: { readonly requestUri: string }): Promise<AtVendor> {
      const query = new URLSearchParams({ client_id: clientId, request_uri: requestUri });
      const reply = expectStatus(303, await connection.get(`/v1/authorize?${query.toString()}`));
      const asked = redirectedTo(vendor.authorizationEndpoint, reply);
      const state = asked.get("state") ?? "";
      const nonce = asked.get("nonce") ?? undefined;
      const isWhole =
        asked.get("response_type") === "code" &&
        asked.get("client_id") === vendor.clientId &&
        asked.get("redirect_uri") === `${url}/v1/callback` &&
        asked.get("scope") === vendor.scope &&
        (nonce !== undefined) === (vendor.issuer !== undefined) &&
        asked.get("code_challenge")?.length === 43 &&
        asked.get("code_challenge_method") === "S256";
      const [cookie = ""] = reply.header("set-cookie").split(";", 1);
      if (!isWhole || state.length < 43 || !/^flow-[\w-]+=[\w-]{43}$/.test(cookie)) throw unexpected(reply);
      return { state, cookie, nonce };
    },
    async comeBack(connection: Connection, { state, cookie, nonce }: AtVendor): Promise<Reply> {
      const anyCode = nonce === undefined ? random() : `${nonce}.${random()}`;
      const code = vendor.codes === "named" ? fakeCode(random()) : anyCode;
      return connection.get(`/v1/callback?${new URLSearchParams({ code, state }).toString()}`, { cookie });
    },
    readCode({ state }: { readonly state: string }, reply: Reply): string {
      const answered = redirectedTo(redirectUri, expectStatus(303, reply));
      const code = answered.get("code");
      if (code === null || answered.get("state") !== state || answered.get("iss") !== url) throw unexpected(reply);
      return code;
    },
    redeem: async (connection: Connection, code: string, codeVerifier: string, secret?: string) =>
      connection.post(
        "/v1/token",
        { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: codeVerifier },
        secret === undefined ? credentials : basic(secret),
      ),
    /** Three legs; the vendor's page is skipped. */
    async authorize(connection: Connection): Promise<[code: string, codeVerifier: string]> {
      const pushed = await actor.push(connection);
      const at = await actor.leave(connection, pushed);
      return [actor.readCode(pushed, await actor.comeBack(connection, at)), pushed.codeVerifier];
    },
    /** All four. */
    async flow(connection: Connection): Promise<Tokens> {
      return readTokens(await actor.redeem(connection, ...(await actor.authorize(connection))), vendor);
    },
    /** Presents the refresh token of the answer before, so that no answer is a replay. */
    async refresh(connection: Connection, granted: Tokens): Promise<Tokens> {
      const { connection: named, refreshToken } = granted;
      const what = named === undefined ? { vendor: vendor.id } : { connection: named };
      const form = { grant_type: "refresh_token", refresh_token: refreshToken, ...what };
      return readTokens(await connection.post("/v1/token", form, credentials), vendor);
    },
  };
  return actor;
}

/** As the vendor answers. */
export function readTokens(reply: Reply, vendor: Pick<Parties["vendor"], "scope" | "issuer" | "codes">): Tokens {
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type,
    expires_in,
    scope,
    connection,
    vendor_id_token: idToken,
  } = members(reply);
  const isWhole =
    typeof accessToken === "string" &&
    /^(at|token-of)-/.test(accessToken) &&
    typeof refreshToken === "string" &&
    /^(rt|refresh-of)-/.test(refreshToken) &&
    token_type === "Bearer" &&
    (vendor.codes === "named" || isHour(expires_in)) &&
    scope === vendor.scope &&
    (typeof idToken === "string") === (vendor.issuer !== undefined);
  if (!isWhole) throw unexpected(reply);
  return { accessToken, refreshToken, ...(typeof connection === "string" && { connection }) };
}

/** The vendor's hour, less the time since it answered. */
function isHour(seconds: unknown): boolean {
  return typeof seconds === "number" && seconds <= 3600 && seconds > 3590;
}

function redirectedTo(uri: string, reply: Reply): URLSearchParams {
  const location = reply.header("location");
  if (!location.startsWith(`${uri}?`)) throw unexpected(reply);
  return new URLSearchParams(location.slice(uri.length + 1));
}
