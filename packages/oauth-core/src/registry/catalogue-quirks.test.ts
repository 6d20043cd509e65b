/**
 * How vendors of the catalogue depart from the standard (`quirks`, in the terms of the sources),
 * and what each quirk must lead to here: a field that expresses it, nothing because every vendor is
 * read that way, or a reason why the entry is off. A quirk without a decision fails.
 * docs/decisions/0042 describes how the entries were reviewed.
 */
import { describe, expect, it } from "vitest";
import { readTokenAnswer } from "../vendor-client/token/response.ts";
import { words } from "../testing/corpora/words.ts";
import { CATALOGUE, type CatalogueEntry, catalogueEntry, reasonsOff } from "./catalogue.ts";

type Vendor = CatalogueEntry["vendor"];
type Decision = "general" | "unsupported" | ((vendor: Vendor, entry: CatalogueEntry) => boolean);

/** The vendor has no revocation endpoint, or the entry says how it revokes. */
const saysRevocation = (vendor: Vendor): boolean =>
  vendor.revocationEndpoint === undefined || vendor.revocation !== undefined || vendor.revokes !== undefined;
const saysErrors = ({ errorMember }: Vendor): boolean => errorMember !== undefined;
const saysHeaders = ({ tokenHeaders }: Vendor): boolean => tokenHeaders !== undefined;
/** ID tokens are dropped. */
const dropsIdTokens = ({ issuesIdTokens }: Vendor): boolean => issuesIdTokens === false;
const saysCallback = (vendor: Vendor): boolean => vendor.callbackParams !== undefined;

const decided = (decision: Decision, quirks: string): Readonly<Record<string, Decision>> =>
  Object.fromEntries(words(quirks).map((quirk) => [quirk, decision]));

const DECISIONS: Readonly<Record<string, Decision>> = {
  // What the entry says.
  audience_param: ({ authorizationParams }) => authorizationParams?.["audience"] !== undefined,
  authorize_and_token_same_path: (vendor) => vendor.authorizationEndpoint === vendor.tokenEndpoint,
  authorization_params_renamed: ({ parameterNames }) => parameterNames !== undefined,
  callback_code_renamed: ({ callbackCodeName }) => callbackCodeName !== undefined,
  callback_extra_fields: saysCallback,
  callback_quirk: saysCallback,
  client_id_header_needed: saysHeaders,
  extra_header_needed: saysHeaders,
  client_id_renamed: ({ parameterNames }) => parameterNames?.["client_id"] !== undefined,
  client_secret_is_jwt: ({ clientSecret }) => clientSecret !== undefined,
  dynamic_client_registration: ({ registrationEndpoint }) => registrationEndpoint !== undefined,
  error_shape_nonstandard: saysErrors,
  expires_at_absolute: ({ tokenExpiry }) => tokenExpiry !== undefined,
  expires_in_renamed: ({ tokenResponseNames }) => tokenResponseNames?.["expires_in"] !== undefined,
  extra_authorization_params: (vendor) => (vendor.authorizationParams ?? vendor.defaultResource) !== undefined,
  // The caller says first which of the pinned hosts it is.
  callback_selects_token_host: (_, { placeholders }) => placeholders !== undefined,
  first_login_only_profile: saysCallback,
  form_post_callback: ({ authorizationParams }) => authorizationParams?.["response_mode"] === "form_post",
  nested_token: ({ tokenResponseMember }) => tokenResponseMember !== undefined,
  id_token_hs256: dropsIdTokens,
  id_token_quirk: dropsIdTokens,
  issuer_template: dropsIdTokens,
  no_refresh_token: ({ issuesRefreshTokens }) => issuesRefreshTokens === false,
  no_revocation_endpoint: ({ revocationEndpoint }) => revocationEndpoint === undefined,
  offline_scope: ({ offlineScopes }) => offlineScopes !== undefined,
  pkce_not_supported: ({ pkce }) => pkce === "none",
  pkce_plain_only: ({ pkce }) => pkce === "plain",
  redirect_uri_not_sent: ({ parameterNames }) => parameterNames?.["redirect_uri"] === "",
  redirect_uri_is_alias: ({ redirectUriAlias }) => redirectUriAlias !== undefined,
  state_in_token_request: ({ repeatsState }) => repeatsState === true,
  refresh_rotation: ({ rotatesRefreshTokens }) => rotatesRefreshTokens === true,
  registration_nonstandard: ({ registrationEndpoint }) => registrationEndpoint === undefined,
  resource_param: ({ defaultResource }) => defaultResource !== undefined,
  revocation_by_account_id: saysRevocation,
  revocation_custom_auth_scheme: saysRevocation,
  revocation_non_rfc7009: saysRevocation,
  revocation_nonstandard_params: saysRevocation,
  revocation_on_token_endpoint: ({ revocationEndpoint, tokenEndpoint }) =>
    revocationEndpoint === undefined || revocationEndpoint === tokenEndpoint,
  scope_separator_comma: ({ scopeSeparator }) => scopeSeparator === ",",
  scope_separator_other: ({ scopeSeparator = " " }) => scopeSeparator !== " " && scopeSeparator !== ",",
  separate_refresh_endpoint: ({ refreshEndpoint }) => refreshEndpoint !== undefined,
  tenant_specific_endpoint: (_, { placeholders }) => placeholders !== undefined,
  token_auth_basic: ({ tokenEndpointAuthMethod: method }) =>
    (method ?? "client_secret_basic") === "client_secret_basic",
  token_auth_none_public_client: ({ tokenEndpointAuthMethod }) => tokenEndpointAuthMethod === "none",
  token_auth_signed: ({ clientSecret }) => clientSecret !== undefined,
  token_body_json: ({ tokenRequestBody }) => tokenRequestBody === "json",
  token_exchange_instead_of_refresh: ({ longLivedToken }) => longLivedToken !== undefined,
  two_step_exchange: ({ longLivedToken }) => longLivedToken !== undefined,
  token_params_extra: ({ codeExchangeParams, refreshParams, echoedCallbackParams }) =>
    (codeExchangeParams ?? refreshParams ?? echoedCallbackParams) !== undefined,
  token_response_renamed_fields: ({ tokenResponseNames }) => tokenResponseNames !== undefined,

  // Every vendor's requests and responses are handled that way, or the quirk concerns the caller's
  // use of the token.
  ...decided(
    "general",
    `accept_header_needed admin_consent api_base_in_token_response callback_fragment_junk cancel_error_nonstandard
    cimd client_id_in_path conflicting_sources_on_refresh content_type_not_json dated_api_version
    error_extra_fields error_array error_in_200 error_object error_response_quirk expires_in_string
    expiry_is_app_setting introspection_needed_for_expiry issuer_other_host issuer_trailing_slash
    mcp_authorization_server no_expires_in no_scope_param no_token_expiry one_resource_per_token
    out_of_band_approval partial_consent post_exchange_lookup profile_in_token_response refresh_expiry_renamed
    refresh_grace_period refresh_only_near_expiry rescope_invalidates_tokens scope_is_array scopes_fixed_on_app
    scopes_ignored success_not_200 token_response_not_json_by_default token_response_quirk two_metadata_views`,
  ),

  // No field says it.
  ...decided(
    "unsupported",
    `authorize_url_has_fragment callback_hmac hybrid_response_type issuer_aliases no_client_registration
    no_state_roundtrip nonstandard_grant_type redirect_uri_on_refresh refresh_extends_in_place state_renamed
    token_params_in_query`,
  ),
};

/** Vendors for which the wording of a class says more than is the case, and why. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apple: { id_token_quirk: "claims beside iss, sub and aud are not read" },
  auth0: {
    audience_param: "optional: a caller sends it",
    extra_authorization_params: "optional: a caller sends it",
  },
  bamboohr: { token_params_extra: "in the query of the endpoint" },
  basecamp: {
    extra_header_needed: "on API calls, which are the caller's",
    nonstandard_grant_type: "of its older form, which the standard's replaced",
  },
  bitrix24: { token_params_in_query: "of its older form, which a posted form replaced" },
  bungie: { extra_header_needed: "on API calls, which are the caller's" },
  checkr: { tenant_specific_endpoint: "the client id, which is ours to fill" },
  etsy: { extra_header_needed: "on API calls, which are the caller's" },
  facebook: { callback_quirk: "a fragment, which stays in the browser" },
  gitlab: { redirect_uri_on_refresh: "optional" },
  google: { id_token_quirk: "issuerSpelling", issuer_aliases: "issuerSpelling" },
  highlevel: { token_params_extra: "optional" },
  hubspot: {
    revocation_non_rfc7009: "has the parameters of RFC 7009",
    revocation_nonstandard_params: "of its older version",
  },
  instagram: {
    callback_quirk: "a fragment, which stays in the browser",
    separate_refresh_endpoint: "of tokens of longer life, which are not asked for",
  },
  mastodon: { dynamic_client_registration: "in a format of its own, so no endpoint is written down" },
  microsoft: { callback_quirk: "not with the response mode that is sent" },
  naver: { state_in_token_request: "optional" },
  "notion-api": { extra_header_needed: "on API calls, which are the caller's" },
  nuvemshop: { tenant_specific_endpoint: "the client id, which is ours to fill" },
  paypal: { revocation_non_rfc7009: "has the parameters of RFC 7009" },
  quickbooks: { id_token_quirk: "of discovery, which is not used" },
  reddit: { extra_header_needed: "any User-Agent" },
  roblox: { id_token_quirk: "its issuer ends with a slash, and is compared byte for byte" },
  schwab: { callback_quirk: "the code is decoded once, as every parameter is" },
  shopify: { callback_hmac: "the state ties a callback to its flow" },
  squarespace: { extra_header_needed: "any User-Agent" },
  "tiktok-ads": { callback_quirk: "a second code, which is not read" },
  threads: { separate_refresh_endpoint: "of tokens of longer life, which are not asked for" },
  twitch: { client_id_header_needed: "on API calls, which are the caller's" },
  zendesk: { token_params_extra: "optional: lifetimes" },
};

function undecided(entry: CatalogueEntry): string[] {
  return (entry.quirks ?? []).filter((quirk) => {
    const decision = Object.hasOwn(DECISIONS, quirk) ? DECISIONS[quirk] : undefined;
    if (decision === undefined) return true;
    if (EXCEPTIONS[entry.vendor.id]?.[quirk] !== undefined) return false;
    if (decision === "general" || entry.unsupported !== undefined) return false;
    return decision === "unsupported" || !decision(entry.vendor, entry);
  });
}

describe("quirks of the catalogue", () => {
  it("are each a field, read for all vendors, or a reason to be off", () => {
    expect(CATALOGUE.flatMap((entry) => undecided(entry).map((quirk) => `${entry.vendor.id}: ${quirk}`))).toEqual([]);
  });

  it("without a decision are found, and so are those whose field is gone", () => {
    const { parameterNames: _, ...vendor } = required("todoist").vendor;
    expect(undecided({ ...required("todoist"), vendor })).toEqual(["redirect_uri_not_sent"]);
    expect(undecided({ ...required("todoist"), quirks: ["never_heard_of"] })).toEqual(["never_heard_of"]);
    const { unsupported: __, ...coros } = required("coros");
    expect(undecided(coros)).toContain("refresh_extends_in_place");
  });

  it("have no decision that no entry needs, and no exception without effect", () => {
    const used = new Set(CATALOGUE.flatMap(({ quirks = [] }) => quirks));
    expect(Object.keys(DECISIONS).filter((quirk) => !used.has(quirk))).toEqual([]);
    for (const [id, quirks] of Object.entries(EXCEPTIONS)) {
      expect(required(id).quirks, id).toEqual(expect.arrayContaining(Object.keys(quirks)));
    }
  });

  it("leave these many on", () => {
    expect(CATALOGUE.filter((entry) => reasonsOff(entry).length === 0)).toHaveLength(346);
  });
});

describe("answers of vendors of the catalogue", () => {
  const read = async (id: string, status: number, answer: object) => {
    const { vendor } = catalogueEntry(required(id));
    expect(vendor.enabled, id).toBe(true);
    const resolved = { ...vendor, authorizationEndpoint: "", tokenEndpoint: "", issExpected: false };
    const call = { what: "refresh", spends: false, errors: vendor.tokenErrors };
    return readTokenAnswer(Response.json(answer, { status }), resolved, call, { now: () => 1_700_000_000 });
  };

  it.each<[string, string, number, object, string]>([
    [
      "x",
      "a dead refresh token",
      400,
      { error: "invalid_request", error_description: "Value passed for the token was invalid." },
      "invalid_grant",
    ],
    [
      "x",
      "a dead code",
      400,
      { error: "invalid_request", error_description: "Value passed for the authorization code was invalid." },
      "invalid_grant",
    ],
    [
      "x",
      "a missing parameter",
      400,
      { error: "invalid_request", error_description: "Missing required parameter [code]." },
      "vendor_response_invalid",
    ],
    [
      "deviantart",
      "a dead refresh token",
      400,
      { error: "invalid_request", error_description: "The refresh_token is invalid.", status: "error" },
      "invalid_grant",
    ],
    [
      "hubspot",
      "a dead refresh token",
      400,
      { status: "BAD_REFRESH_TOKEN", message: "missing or unknown" },
      "invalid_grant",
    ],
    ["hubspot", "a dead code", 400, { status: "BAD_AUTH_CODE", message: "missing or unknown" }, "invalid_grant"],
    [
      "exact-online",
      "a refresh too early",
      400,
      { error: "access_denied", error_description: "Rate limit exceeded: access_token not expired" },
      "temporarily_unavailable",
    ],
    ["exact-online", "a denial", 400, { error: "access_denied" }, "vendor_response_invalid"],
    [
      "zoho",
      "a rate limit",
      400,
      { error: "Access Denied", error_description: "You have made too many requests continuously.", status: "failure" },
      "temporarily_unavailable",
    ],
    ["zoho", "a dead refresh token in a 200", 200, { error: "invalid_code" }, "invalid_grant"],
    [
      "arcgis",
      "a dead refresh token in a 200",
      200,
      { error: { code: 498, error: "invalid_request", error_description: "Invalid refresh_token", details: [] } },
      "invalid_grant",
    ],
    [
      "arcgis",
      "the same by its words",
      400,
      { error: { code: 400, error: "invalid_request", error_description: "Invalid refresh_token" } },
      "invalid_grant",
    ],
    [
      "arcgis",
      "a missing parameter",
      400,
      { error: { code: 400, error: "invalid_request", error_description: "redirect_uri not specified" } },
      "vendor_response_invalid",
    ],
    [
      "linkedin",
      "a dead code",
      400,
      {
        error: "invalid_request",
        error_description: "Unable to retrieve access token: appid/redirect uri/code verifier does not match",
      },
      "invalid_grant",
    ],
    [
      "shopify",
      "a dead code",
      400,
      { error: "invalid_request", error_description: "The authorization code was not found or was already used" },
      "invalid_grant",
    ],
    ["mattermost", "a page with 500", 500, {}, "temporarily_unavailable"],
    ["zoom", "a number under code", 400, { code: 124, message: "Invalid access token" }, "invalid_grant"],
    ["zoom", "error beside a reason", 400, { reason: "Invalid", error: "invalid_grant" }, "invalid_grant"],
    ["slack-openid", "ok: false in a 200", 200, { ok: false, error: "invalid_code" }, "invalid_grant"],
    ["github-app", "an error in a 200", 200, { error: "bad_refresh_token" }, "invalid_grant"],
    ["atlassian-api", "a 403", 403, { error: "unauthorized_client" }, "invalid_grant"],
  ])("of %s: %s", async (id, _what, status, answer, code) => {
    await expect(read(id, status, answer)).rejects.toMatchObject({ code });
  });

  it.each<[string, string, object, object]>([
    ["zoom", "no code", { expires_in: 3599, api_url: "https://eu" }, { vendorData: { api_url: "https://eu" } }],
    ["myob", "a lifetime in a string", { expires_in: "1200" }, { expiresInSeconds: 1200 }],
    ["linear-api", "a list of scopes", { scope: ["read", "write"] }, { scope: ["read", "write"] }],
    ["pipedrive", "a comma list", { scope: "base,deals:full" }, { scope: ["base", "deals:full"] }],
    ["asana", "data beside the tokens", { data: { id: 1 } }, { vendorData: { data: { id: 1 } } }],
  ])("of %s: %s", async (id, _what, answer, expected) => {
    expect(await read(id, 200, { access_token: "at", ...answer })).toMatchObject({ accessToken: "at", ...expected });
  });

  it("of a vendor whose lifetime of 0 means none", async () => {
    expect(await read("mailchimp", 200, { access_token: "at", expires_in: 0 })).not.toHaveProperty("expiresInSeconds");
  });
});

function required(id: string): CatalogueEntry {
  const entry = CATALOGUE.find(({ vendor }) => vendor.id === id);
  if (entry === undefined) throw new Error(`the catalogue has no ${id}`);
  return entry;
}
