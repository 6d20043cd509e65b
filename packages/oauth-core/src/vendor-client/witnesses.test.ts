/**
 * Every witness replayed against its entry (testing/vendor-witnesses): what is sent, how a token
 * answer is normalised, and what an error means. The account is in userinfo/witnesses.test.ts.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../ports.ts";
import { MISFITS, surprisesOf, type WitnessChecks } from "../testing/vendor-witnesses/misfits.ts";
import {
  entryOf,
  type Replay,
  type ReplayedRequest,
  REPLAYED_NONCE,
  replayVendor,
  templateOf,
} from "../testing/vendor-witnesses/replay.ts";
import {
  readCorrections,
  readWitnesses,
  type Witness,
  type WitnessedError,
  type WitnessedRevocation,
} from "../testing/vendor-witnesses/witnesses.ts";
import { authorizationParameterName } from "./authorization/url.ts";
import { mapCallbackError } from "./authorization/error.ts";
import { hasIdTokens } from "./issuer.ts";

const WITNESSES = readWitnesses();
const REDIRECT_URI = "https://broker.example/v1/callback";
const CODE_VERIFIER = "verifier-of-this-flow-which-is-43-chars-or-more";

function eachOf(checksOf: (witness: Witness) => WitnessChecks): void {
  it.each(WITNESSES.filter((witness) => Object.keys(checksOf(witness)).length > 0))("$id", async (witness) => {
    expect(await surprisesOf(witness, checksOf(witness))).toEqual([]);
  });
}

describe("a witnessed request is sent as it was seen", () => {
  eachOf(({ id, scope_separator: separator, pkce, client_auth: methods, extra = {} }) => ({
    ...(separator === undefined
      ? {}
      : {
          scope_separator: (): void => {
            const { vendor } = replayVendor(id);
            const name = authorizationParameterName(vendor, vendor.scopeParameter);
            if (name !== "") expect(asked(id).get(name)).toBe(["a", "b", ...vendor.offlineScopes].join(separator));
          },
        }),
    ...(pkce === undefined
      ? {}
      : { pkce: (): void => expect(asked(id).get("code_challenge_method") ?? "none").toBe(pkce) }),
    ...(methods === undefined
      ? {}
      : { client_auth: async (): Promise<void> => expect(methods).toContain(methodOf(await redemptionAt(id))) }),
    ...(extra.authorization === undefined
      ? {}
      : {
          authorization: (): void => {
            const { scope, ...fixed } = extra.authorization ?? {};
            if (scope !== undefined) expect(entryOf(id).vendor.defaultScopes).toEqual([scope]);
            for (const [name, value] of Object.entries(fixed))
              if (!String(value).includes("$")) expect([name, asked(id).get(name)]).toEqual([name, String(value)]);
          },
        }),
    ...(extra.callback === undefined
      ? {}
      : {
          callback: (): void =>
            expect(entryOf(id).vendor.callbackParams).toEqual(expect.arrayContaining([...(extra.callback ?? [])])),
        }),
    ...(extra.token === undefined
      ? {}
      : {
          token: async (): Promise<void> =>
            expect(parametersOf(await redemptionAt(id))).toMatchObject(texts(extra.token)),
        }),
    ...(extra.refresh === undefined
      ? {}
      : {
          refresh: async (): Promise<void> =>
            expect(parametersOf(await refreshAt(id))).toMatchObject(texts(extra.refresh)),
        }),
    ...(extra.token_request_body === undefined
      ? {}
      : {
          token_request_body: async (): Promise<void> =>
            expect((await redemptionAt(id)).headers.get("content-type")).toContain(extra.token_request_body),
        }),
    ...(extra.refresh_url === undefined || extra.refresh_url.includes("$")
      ? {}
      : {
          refresh_url: async (): Promise<void> => {
            const request = await refreshAt(id);
            expect([request.url.href, placeOf(request)]).toContain(extra.refresh_url);
          },
        }),
  }));
});

describe("a witnessed token answer is accepted and normalised", () => {
  eachOf(({ id, token }) => {
    const { shape } = token ?? {};
    if (shape === undefined) return {};
    return {
      answer: async () => {
        const replay = replayVendor(id);
        const tokens = await redeem(replay, shape);
        const set = (replay.vendor.tokenResponseMember === undefined ? shape : shape["body"]) as JsonObject;
        expect(tokens.accessToken).toBe(set["access_token"]);
        expect(tokens.refreshToken).toBe(set["refresh_token"]);
        const lifetime = Number(set[token?.expires_member ?? "expires_in"]);
        if (!Number.isNaN(lifetime)) expect(tokens.expiresInSeconds).toBe(lifetime);
        const ofRefresh = Object.entries(set).find(([name]) => /refresh\w*_expires_in$/.test(name));
        expect(tokens.refreshExpiresInSeconds).toBe(ofRefresh === undefined ? undefined : Number(ofRefresh[1]));
        const scope = set[token?.scope_member ?? "scope"];
        if (typeof scope === "string") expect(tokens.scope).toEqual(scope.split(/[ ,]/).filter((one) => one !== ""));
        if (Array.isArray(scope)) expect(tokens.scope).toEqual(scope);
        expect(tokens.tokenType).toBe("Bearer");
      },
    };
  });
});

describe("a witnessed exchange for a long-lived token is made, and its answer is the token of the code", () => {
  eachOf(({ id, extra: { long_lived: exchange } = {} }) => {
    if (exchange === undefined) return {};
    return {
      exchange: async () => {
        const replay = replayVendor(id);
        const { accessToken, refreshToken, expiresInSeconds } = await redeem(replay, exchange.shape);
        const [, request] = replay.received;
        if (request === undefined) throw new Error("no exchange was made");
        expect([request.method, templateOf(exchange.url).test(placeOf(request))]).toEqual(["GET", true]);
        const { access_token: token, expires_in: lifetime } = exchange.shape;
        expect(Object.fromEntries(request.url.searchParams)).toMatchObject({
          grant_type: exchange.grant_type,
          client_secret: replay.credentials.clientSecret?.reveal(),
          [exchange.token_parameter]: token,
        });
        expect([accessToken, refreshToken, expiresInSeconds]).toEqual([token, token, lifetime]);
      },
    };
  });
});

describe("a witnessed rotation is what the entry says", () => {
  eachOf(({ id, token }) =>
    typeof token?.refresh_rotates !== "boolean"
      ? {}
      : {
          rotation: (): void => {
            const { issuesRefreshTokens, rotatesRefreshTokens } = entryOf(id).vendor;
            expect(issuesRefreshTokens === false ? false : rotatesRefreshTokens).toBe(token.refresh_rotates);
          },
        },
  );
});

describe("a witnessed error is read by its meaning", () => {
  eachOf(({ id, errors = [] }) =>
    Object.fromEntries(
      errors
        .filter(({ leg }) => leg !== "account")
        .map((error, at) => [
          `error ${at + 1} (${error.leg})`,
          async () => expect(await codeOf(id, error)).toBe(MEANINGS[error.means]),
        ]),
    ),
  );
});

describe("a witnessed revocation is sent as it was seen", () => {
  eachOf(({ id, revocation, revocation_also: also = [] }) => {
    if (revocation === undefined) return {};
    return {
      revocation: async () => {
        const { url, ...sent } = await revocationAt(id, revocation);
        const seen = [revocation, ...also].filter((one) => templateOf(one.url).test(url));
        expect(seen.map(({ method, body = "none", token_parameter: name }) => ({ method, body, name }))).toContainEqual(
          sent,
        );
      },
    };
  });
});

it("the rows themselves are about entries, and a misfit names one", () => {
  for (const { id } of [...WITNESSES, ...readCorrections()]) expect(() => entryOf(id)).not.toThrow();
  for (const name of Object.keys(MISFITS)) expect(WITNESSES.map(({ id }) => id)).toContain(name.split(" ")[0]);
});

const MEANINGS = {
  dead_grant: "invalid_grant",
  bad_client: "vendor_credentials_rejected",
  rate_limit: "temporarily_unavailable",
  outage: "temporarily_unavailable",
  cancel: "access_denied",
} as const;

function asked(id: string): URLSearchParams {
  const { client, vendor } = replayVendor(id);
  const request = { clientId: "our-client", redirectUri: REDIRECT_URI, state: "s", scope: ["a", "b"] };
  return new URL(client.authorizationUrl(vendor, { ...request, codeChallenge: "c" })).searchParams;
}

async function redeem(
  { client, vendor, credentials, answer, withIdToken }: Replay,
  shape: JsonObject,
): Promise<Awaited<ReturnType<Replay["client"]["redeemCode"]>>> {
  const { id_token: idToken, scope } = shape;
  const isOpenId = typeof idToken === "string" || (typeof scope === "string" && scope.includes("openid"));
  const isWithIdToken = hasIdTokens(vendor) && isOpenId;
  answer({ body: isWithIdToken ? await withIdToken(shape) : shape });
  const request = {
    code: "code-1",
    redirectUri: REDIRECT_URI,
    codeVerifier: CODE_VERIFIER,
    scope: [],
    nonce: REPLAYED_NONCE,
  };
  return client.redeemCode(vendor, credentials, request);
}

async function redemptionAt(id: string): Promise<ReplayedRequest> {
  const replay = replayVendor(id);
  await redeem(replay, {}).catch(() => {});
  return onlyOne(replay);
}

async function refreshAt(id: string): Promise<ReplayedRequest> {
  const replay = replayVendor(id);
  const { client, vendor, credentials } = replay;
  await client.refreshTokens(vendor, credentials, { refreshToken: "refresh-1" }).catch(() => {});
  return onlyOne(replay);
}

/** Without the query, in which some vendors have their tokens. */
function placeOf({ url }: ReplayedRequest): string {
  return url.origin + url.pathname;
}

/** What of a revocation can be compared. */
async function revocationAt(
  id: string,
  { success_member: success }: WitnessedRevocation,
): Promise<{ url: string; method: string; body: string; name: string | undefined }> {
  const replay = replayVendor(id);
  const { client, vendor, credentials } = replay;
  replay.answer({ body: success === undefined ? {} : { [success.member]: success.value } });
  await client.revokeGrant(vendor, credentials, { accessToken: "the-token", refreshToken: "the-token" });
  const request = onlyOne(replay);
  const { url, headers, body, method } = request;
  const bodyless = url.search === "" ? "none" : "query";
  const kind = body === "" ? bodyless : headers.get("content-type") === "application/json" ? "json" : "form";
  const parameters = kind === "none" ? {} : parametersOf(request);
  const [name] = Object.entries(parameters).find(([, value]) => value === "the-token") ?? [];
  return { url: kind === "query" ? url.origin + url.pathname : url.href, method, body: kind, name };
}

function onlyOne({ received }: Replay): ReplayedRequest {
  const [request] = received;
  if (request === undefined) throw new Error("nothing was sent");
  return request;
}

/** Those of the query count as well. */
function parametersOf({ url, headers, body }: ReplayedRequest): Readonly<Record<string, string>> {
  const isJson = headers.get("content-type") === "application/json";
  const sent = isJson ? (JSON.parse(body) as Record<string, string>) : Object.fromEntries(new URLSearchParams(body));
  return { ...Object.fromEntries(url.searchParams), ...sent };
}

function texts(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function methodOf({ headers, body }: ReplayedRequest): string {
  if (headers.get("authorization")?.startsWith("Basic ") === true) return "client_secret_basic";
  return body.includes("our-secret-at-the-vendor") ? "client_secret_post" : "none";
}

async function codeOf(id: string, { leg, status, shape }: WitnessedError): Promise<unknown> {
  const replay = replayVendor(id);
  const { client, vendor, credentials } = replay;
  if (leg === "callback") return mapCallbackError(shape as { error: string }, vendor).code;
  replay.answer({ status, body: shape });
  const request = { code: "code-1", redirectUri: REDIRECT_URI, codeVerifier: CODE_VERIFIER, scope: [] };
  const result: Promise<unknown> =
    leg === "code"
      ? client.redeemCode(vendor, credentials, request)
      : client.refreshTokens(vendor, credentials, { refreshToken: "refresh-1" });
  return result.then(
    () => "accepted",
    (error: unknown) => (error as { code?: unknown }).code,
  );
}
