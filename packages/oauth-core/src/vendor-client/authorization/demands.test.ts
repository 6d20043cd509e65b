/** What metadata demands and we do not do, from the document to the refusal. */
import { systemTimer } from "../../mechanics/system-timer.ts";
import { describe, expect, it } from "vitest";
import type { Fetch } from "../../ports.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { defineVendor, type Vendor, type VendorCredentials } from "../../registry/vendor.ts";
import { createDiscovery } from "../discovery/discover.ts";
import { requireMetDemands } from "./demands.ts";
import { authorizationUrl } from "./url.ts";

const ISSUER = "https://v.example";
const CLIENT: VendorCredentials = { id: "1", source: "shared", clientId: "client" };
const WITH_KEY = { ...CLIENT, certificate: {} } as unknown as VendorCredentials;
const ENDPOINTS = { authorizationEndpoint: `${ISSUER}/a`, tokenEndpoint: `${ISSUER}/t` };

async function resolved(metadata: object, entry: Partial<Vendor> = {}, takesFormPost = false) {
  const document = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/a`,
    token_endpoint: `${ISSUER}/t`,
    jwks_uri: `${ISSUER}/k`,
    ...metadata,
  };
  const fetch: Fetch = async () => Response.json(document);
  const deps = { fetch, now: fixedClock(1_700_000_000), timer: systemTimer, allowLoopback: false, takesFormPost };
  const { resolve } = createDiscovery(deps);
  return resolve(defineVendor({ id: "v", name: "V", issuer: ISSUER, ...entry }));
}

const refusal = (reason: string) =>
  expect.objectContaining({ code: "vendor_response_invalid", status: 502, extras: { reason } });

const ALGS = "id_token_algs_not_supported";
const DEMANDS: readonly [string, object, string, readonly string[]][] = [
  ["pushed requests", { require_pushed_authorization_requests: true }, "pushed_requests_required", []],
  ["signed requests", { require_signed_request_object: true }, "signed_requests_required", []],
  ["another response mode", { response_modes_supported: ["fragment"] }, "response_mode_not_supported", []],
  ["form_post alone", { response_modes_supported: ["fragment", "form_post"] }, "response_mode_not_supported", []],
  ["no code", { response_types_supported: ["token", "code id_token"] }, "response_type_not_supported", []],
  ["openid without keys", { jwks_uri: undefined }, "keys_not_published", ["openid"]],
  ["openid by HS256 alone", { id_token_signing_alg_values_supported: ["HS256", "none"] }, ALGS, ["openid"]],
];
const KEY_ONLY = { token_endpoint_auth_methods_supported: ["private_key_jwt", "tls_client_auth"] };

describe("bar#DI-1 metadata that demands what we do not do", () => {
  it.each(DEMANDS)(
    "rfc9126#5 rfc9101#10.5 is refused before the browser leaves: %s",
    async (_, metadata, reason, scope) => {
      for (const entry of [{}, ENDPOINTS]) {
        const vendor = await resolved(metadata, entry);
        expect(() => requireMetDemands(vendor, CLIENT, scope)).toThrow(refusal(reason));
      }
    },
  );

  it("is refused where it takes only keys, and these credentials have none", async () => {
    const vendor = await resolved(KEY_ONLY);
    expect(() => requireMetDemands(vendor, CLIENT, [])).toThrow(refusal("client_authentication_not_supported"));
    requireMetDemands(vendor, WITH_KEY, []);
  });

  it.each([
    {},
    { require_pushed_authorization_requests: false, require_signed_request_object: "true" },
    { response_modes_supported: ["query", "fragment"], token_endpoint_auth_methods_supported: ["none"] },
    { response_modes_supported: [], token_endpoint_auth_methods_supported: [], response_types_supported: null },
    { response_types_supported: ["code", "token"], id_token_signing_alg_values_supported: ["HS256", "ES256"] },
    { pushed_authorization_request_endpoint: `${ISSUER}/par`, request_object_signing_alg_values_supported: ["ES256"] },
  ])("is none that only offers it: %j", async (metadata) => {
    const vendor = await resolved(metadata);
    expect(() => requireMetDemands(vendor, CLIENT, ["openid"])).not.toThrow();
  });

  it("is none for a flow that asks for no ID token", async () => {
    const metadata = { jwks_uri: undefined, id_token_signing_alg_values_supported: ["HS256"] };
    const [plain, issuesNone] = [await resolved(metadata), await resolved(metadata, { issuesIdTokens: false })];
    expect(() => requireMetDemands(plain, CLIENT, ["read"])).not.toThrow();
    expect(() => requireMetDemands(issuesNone, CLIENT, ["openid"])).not.toThrow();
  });
});

it("fields of the entry or the file win over the metadata", async () => {
  const stated = {
    statesAuthMethod: true,
    jwksUri: `${ISSUER}/own`,
    idTokenAlgs: ["RS256"],
    responseType: "code id_token",
    authorizationParams: { response_mode: "query" },
  } as const;
  const metadata = {
    ...KEY_ONLY,
    jwks_uri: undefined,
    response_modes_supported: ["form_post"],
    response_types_supported: ["code id_token"],
    id_token_signing_alg_values_supported: ["HS256"],
  };
  const vendor = await resolved(metadata, stated);
  requireMetDemands(vendor, CLIENT, ["openid"]);
  expect(vendor).toMatchObject({ tokenEndpointAuthMethod: "client_secret_basic", jwksUri: stated.jwksUri });
  expect(vendor).not.toHaveProperty("responseMode");
  const post = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
  expect((await resolved(post, stated)).tokenEndpointAuthMethod).toBe("client_secret_basic");
  expect((await resolved(post)).tokenEndpointAuthMethod).toBe("client_secret_post");
});

describe("the response mode", () => {
  const sent = async (modes: readonly string[] | undefined, entry: Partial<Vendor> = {}) => {
    const vendor = await resolved({ response_modes_supported: modes }, { pkce: "none", ...entry }, true);
    requireMetDemands(vendor, CLIENT, []);
    const request = { clientId: "c", redirectUri: "https://b.example/cb", state: "s", scope: [] };
    return new URL(authorizationUrl(vendor, request)).searchParams.getAll("response_mode");
  };

  it("is form_post where the metadata has no other that we read, and the callback takes it", async () => {
    expect(await sent(["form_post"])).toEqual(["form_post"]);
    expect(await sent(["fragment", "form_post"], ENDPOINTS)).toEqual(["form_post"]);
    expect(await resolved({ response_modes_supported: ["form_post"] })).not.toHaveProperty("responseMode");
  });

  it("is the usual one otherwise, and the entry's where it states one", async () => {
    expect(await sent(undefined)).toEqual([]);
    expect(await sent(["query", "form_post"])).toEqual([]);
    expect(await sent(["form_post"], { authorizationParams: { response_mode: "query" } })).toEqual(["query"]);
  });
});
