/**
 * The fields by which entries describe their vendors, each checked on the wire or in the parsed
 * response.
 */
import { describe, expect, it } from "vitest";
import { readVendorAnswer } from "../brokered-code/vendor-answer.ts";
import { parseParameters } from "../protocol/parameters.ts";
import { fixedClock } from "../testing/fixed-clock.ts";
import { openLab } from "../testing/network/vendor-lab.ts";
import { resolvedVendor as vendor } from "../testing/network/resolved-vendor.ts";
import { defineVendor, type Vendor } from "../registry/vendor.ts";
import { authorizationUrl } from "./authorization/url.ts";
import { expandVendor } from "./templates.ts";
import { mapCallbackError } from "./authorization/error.ts";
import { readTokenAnswer, type TokenAnswer } from "./token/response.ts";

const NOW = 1_700_000_000;

describe("the authorization request", () => {
  const sent = (fields: Partial<Vendor>, scope: readonly string[] = ["a"]): Record<string, string> => {
    const request = { clientId: "us", redirectUri: "https://b.example/cb", state: "s", scope, codeChallenge: "c" };
    const url = authorizationUrl(vendor(fields), {
      ...request,
      resource: "https://mcp.v.example",
      extra: { constructor: "x" },
    });
    return Object.fromEntries(new URL(url).searchParams);
  };

  it("requests once the scope for which the vendor issues a refresh token", () => {
    const offlineScopes = ["offline_access"];
    expect(sent({ offlineScopes }).scope).toBe("a offline_access");
    expect(sent({ offlineScopes }, ["offline_access", "a"]).scope).toBe("offline_access a");
    expect(sent({ offlineScopes }, []).scope).toBe("offline_access");
  });

  it("rfc8707#2 leaves resource out if the vendor refuses it, sends it if it insists", () => {
    const without = { clientId: "us", redirectUri: "https://b.example/cb", state: "s", scope: [], codeChallenge: "c" };
    const insisting = vendor({ defaultResource: "https://default.example" });
    expect(new URL(authorizationUrl(insisting, without)).searchParams.get("resource")).toBe("https://default.example");
    expect(sent({ defaultResource: "https://default.example" }).resource).toBe("https://mcp.v.example");
    expect(sent({})).toHaveProperty("resource", "https://mcp.v.example");
    expect(sent({ resource: "omit" })).not.toHaveProperty("resource");
  });

  it("uses the vendor's names for our parameters, and leaves out those it has none for", () => {
    const members = sent({
      scopeParameter: "user_scope",
      parameterNames: { client_id: "client_key", response_type: "" },
    });
    expect(members).toMatchObject({ user_scope: "a", client_key: "us", constructor: "x" });
    for (const name of ["scope", "client_id", "response_type"]) expect(members).not.toHaveProperty(name);
  });

  it("has the vendor's word for the response type", () => {
    expect(sent({}).response_type).toBe("code");
    expect(sent({ responseType: "auth_code" }).response_type).toBe("auth_code");
  });

  it("bar#ST-4 has a fixed request of the entry, and none of an endpoint's query", () => {
    expect(sent({ authorizationParams: { request: "authorize" } }).request).toBe("authorize");
    const endpoint = { ...vendor(), authorizationEndpoint: "https://v.example/a?request=x.y.z&page=1" };
    const request = { clientId: "us", redirectUri: "https://b.example/cb", state: "s", scope: [], codeChallenge: "c" };
    const url = new URL(authorizationUrl(endpoint, request));
    expect([url.searchParams.get("page"), url.searchParams.get("request")]).toEqual(["1", null]);
    for (const name of ["state", "redirect_uri", "client_id", "code_challenge"]) {
      expect(sent({ authorizationParams: { [name]: "theirs" } })[name]).not.toBe("theirs");
    }
  });

  it("has a fixed parameter that a placeholder of the entry fills, checked like any", () => {
    const entry = defineVendor({
      id: "v",
      name: "V",
      authorizationParams: { app: "{app}", fixed: "{other}", page: "stores/{app}" },
    });
    const specs = { app: { pattern: "[a-z0-9.]+" } };
    const filled = expandVendor(entry, { app: "amzn1.x" }, specs);
    expect(filled.authorizationParams).toEqual({ app: "amzn1.x", fixed: "{other}", page: "stores/amzn1.x" });
    expect(expandVendor(entry, {}, {})).toBe(entry);
    const json = defineVendor({ id: "v", name: "V", authorizationParams: { claims: '{"id_token":{"{":1}}' } });
    expect(expandVendor(json, { app: "a" }, specs)).toBe(json);
    for (const app of ["a&state=x", "A", ""]) {
      expect(() => expandVendor(entry, { app }, specs)).toThrow(
        expect.objectContaining({ code: "invalid_request", description: expect.stringContaining("placeholder app") }),
      );
    }
  });

  it("names our address as the vendor does, by a name that a placeholder fills", () => {
    const entry = defineVendor({ id: "v", name: "V", redirectUriAlias: "{ru_name}" });
    const specs = { ru_name: { pattern: "[A-Za-z0-9_-]+" } };
    const filled = expandVendor(entry, { ru_name: "Acme-App" }, specs);
    expect(sent(filled)).toHaveProperty("redirect_uri", "Acme-App");
    for (const values of [{}, { ru_name: "https://evil.example" }, { ru_name: "a&state=x" }]) {
      expect(() => expandVendor(entry, values, specs)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });

  it("may have names of its own, and none of them is for a caller to set", () => {
    const names = { parameterNames: { client_id: "app", redirect_uri: "" } };
    const own = { ...names, authorizationParameterNames: { redirect_uri: "back_to", scope: "" } };
    expect(sent(own)).toMatchObject({ app: "us", back_to: "https://b.example/cb", state: "s" });
    for (const name of ["client_id", "redirect_uri", "scope"]) expect(sent(own)).not.toHaveProperty(name);
    expect(sent(names)).not.toHaveProperty("back_to");
    const request = { clientId: "us", redirectUri: "https://b.example/cb", state: "s", scope: [], codeChallenge: "c" };
    for (const name of ["app", "back_to"]) {
      expect(() => authorizationUrl(vendor(own), { ...request, extra: { [name]: "theirs" } })).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
    }
  });
});

it("bar#CB-11 the callback may name its code otherwise, and then has no other", () => {
  const read = (query: string, fields: Partial<Vendor> = { callbackCodeName: "auth_code" }) =>
    readVendorAnswer(parseParameters(query), vendor(fields), {});
  expect(read("auth_code=theirs&code=other&state=s")).toMatchObject({ code: "theirs" });
  expect(read("code=theirs", {})).toMatchObject({ code: "theirs" });
  expect(read("code=c&state=ours", { callbackParams: ["a"] })).toEqual({ code: "c", callbackData: {} });
  const repeated = read("code=c&state=ours", { repeatsState: true });
  expect(repeated).toEqual({ code: "c", state: "ours", callbackData: {} });
  const malformed = expect.objectContaining({ extras: { reason: "malformed_response" } });
  for (const query of ["auth_code=a&error=e", `auth_code=${"x".repeat(4097)}`]) {
    expect(() => read(query), query.slice(0, 30)).toThrow(malformed);
  }
  for (const [query, fields] of [["code=theirs"], ["auth_code="], ["auth_code=theirs", {}]] as const) {
    expect(read(query, fields), query).toEqual({ error: undefined });
  }
});

describe("oidc-core#3.1.3.7 an ID token", () => {
  it("may leave out the scheme of its issuer where the entry says so; what is handed on has it", async () => {
    const lab = await openLab();
    try {
      const entry = { issuerSpelling: "bare" } as const;
      const bare = lab.vendor.issuer.replace("http://", "");
      await lab.vendor.grant({ claims: { iss: bare } });
      const { idToken } = await lab.redeem({ entry });
      expect(idToken).toMatchObject({ issuer: lab.vendor.issuer });
      await lab.vendor.grant({ claims: { iss: bare } });
      await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
      await lab.vendor.grant({ claims: { iss: `https://${bare}` } });
      await expect(lab.redeem({ entry })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    } finally {
      await lab.close();
    }
  });
});

function read(body: object, fields: Partial<Vendor> = {}, status = 200): Promise<TokenAnswer> {
  const entry = vendor(fields);
  const call = { what: "code redemption", spends: true, errors: entry.tokenErrors };
  return readTokenAnswer(Response.json(body, { status }), entry, call, { now: fixedClock(NOW) });
}

describe("bar#VR-7 a token answer", () => {
  const names = { access_token: "token", refresh_token: "refreshToken" };

  it("may have the standard's members under other names, and none of them is handed on twice", async () => {
    const answer = await read({ token: "t", refreshToken: "r", user: "u" }, { tokenResponseNames: names });
    expect(answer).toEqual({ accessToken: "t", refreshToken: "r", tokenType: "Bearer", vendorData: { user: "u" } });
    const nested = { data: { token: "t", refreshToken: "r", user: "u" }, code: 0 };
    expect(await read(nested, { tokenResponseNames: names, tokenResponseMember: "data" })).toEqual({
      ...answer,
      vendorData: { data: { user: "u" }, code: 0 },
    });
    const listed = { data: [nested.data, { token: "of another" }], code: 0 };
    const path = { tokenResponseNames: names, tokenResponseMember: "data.0" };
    const vendorData = { data: { user: "u" }, code: 0 };
    expect(await read(listed, path)).toEqual({ ...answer, vendorData });
    expect((await read({ token: "t" }, path)).accessToken).toBe("t");
    await expect(read({ data: [] }, path)).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it.each<[string, "seconds" | "milliseconds" | "date", unknown, number | undefined]>([
    ["seconds", "seconds", NOW + 3600, 3600],
    ["seconds as text", "seconds", String(NOW + 3600), 3600],
    ["milliseconds", "milliseconds", (NOW + 3600) * 1000, 3600],
    ["a date", "date", "2023-11-14T23:13:20Z", 3600],
    ["a date with a zone", "date", "2023-11-15T00:13:20.000+01:00", 3600],
    ["the past", "seconds", NOW - 1, undefined],
    ["a date without a zone", "date", "2023-11-14T23:13:20", undefined],
    ["a number for a date", "date", NOW, undefined],
    ["nothing", "seconds", undefined, undefined],
  ])("may give its lifetime as a point in time: %s", async (_title, unit, expiresAt, expected) => {
    const answer = await read({ access_token: "t", expiresAt }, { tokenExpiry: { member: "expiresAt", unit } });
    expect(answer.expiresInSeconds).toBe(expected);
  });

  it("may leave its lifetime out where the entry knows it", async () => {
    const fields = { defaultLifetimeSeconds: 3600 };
    expect((await read({ access_token: "t" }, fields)).expiresInSeconds).toBe(3600);
    expect((await read({ access_token: "t", expires_in: 60 }, fields)).expiresInSeconds).toBe(60);
  });

  it("may leave the lifetime of its refresh token out where the entry knows it", async () => {
    const fields = { defaultRefreshLifetimeSeconds: 5_184_000 };
    const lifetime = async (body: object): Promise<number | undefined> =>
      (await read({ access_token: "t", ...body }, fields)).refreshExpiresInSeconds;
    expect(await lifetime({ refresh_token: "r" })).toBe(5_184_000);
    expect(await lifetime({ refresh_token: "r", refresh_token_expires_in: 60 })).toBe(60);
    expect(await lifetime({})).toBeUndefined();
  });

  it("prefers expires_in to a point in time", async () => {
    const tokenExpiry = { member: "expires_at", unit: "seconds" } as const;
    const body = { access_token: "t", expires_in: 60, expires_at: NOW + 3600 };
    expect((await read(body, { tokenExpiry })).expiresInSeconds).toBe(60);
  });

  it("V-70 may report a failure in a member of its own", async () => {
    const fields: Partial<Vendor> = {
      tokenResult: { member: "status", success: [0, "0000"] },
      tokenErrors: { "503": "invalid_grant", "601": "temporarily_unavailable" },
    };
    expect((await read({ status: 0, access_token: "t" }, fields)).accessToken).toBe("t");
    expect((await read({ status: "0000", access_token: "t" }, fields)).accessToken).toBe("t");
    const refused = { code: "invalid_grant", extras: { vendorError: "503" } };
    await expect(read({ status: 503, access_token: "t" }, fields)).rejects.toMatchObject(refused);
    await expect(read({ status: 601 }, fields)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    await expect(read({ status: 1 }, fields)).rejects.toMatchObject({ code: "vendor_response_invalid" });
    await expect(read({ status: { no: 1 } }, fields)).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("may be read by the vendor's own file, and is checked all the same", async () => {
    const readTokenResponse: Vendor["readTokenResponse"] = ({ a }) => ({ access_token: a ?? null });
    expect((await read({ a: "t" }, { readTokenResponse })).accessToken).toBe("t");
    await expect(read({ a: 7 }, { readTokenResponse })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    await expect(read({ a: "t", error: "invalid_grant" }, { readTokenResponse })).rejects.toMatchObject({
      code: "invalid_grant",
    });
  });

  it("drops the id_token of a vendor without ID tokens", async () => {
    const body = { access_token: "t", id_token: "x.y.z" };
    expect(await read(body, { issuer: "https://v.example" })).toHaveProperty("idToken");
    const answer = await read(body, { issuer: "https://v.example", issuesIdTokens: false });
    expect([answer.idToken, answer.vendorData]).toEqual([undefined, {}]);
  });
});

describe("bar#VR-9 an error code of the vendor's own", () => {
  it("has the meaning of its file, not that of the common table", async () => {
    const tokenErrors = { "no such code": "invalid_grant", invalid_scope: "vendor_credentials_rejected" } as const;
    await expect(read({ error: "no such code" }, { tokenErrors })).rejects.toMatchObject({ code: "invalid_grant" });
    await expect(read({ error: "invalid_scope" }, { tokenErrors }, 400)).rejects.toMatchObject({
      code: "vendor_credentials_rejected",
    });
    for (const error of ["constructor", "__proto__", "toString"]) {
      await expect(read({ error }, { tokenErrors })).rejects.toMatchObject({ code: "vendor_response_invalid" });
      expect(mapCallbackError({ error }, { callbackErrors: {} }).code).toBe("server_error");
    }
  });

  it("may be found by a function of its file where it stands elsewhere", async () => {
    const fields: Partial<Vendor> = {
      classifyError: ({ error_codes: codes }) => (Array.isArray(codes) ? `E${String(codes[0])}` : undefined),
      tokenErrors: { E7: "invalid_scope" },
    };
    await expect(read({ error: "invalid_grant", error_codes: [7] }, fields, 400)).rejects.toMatchObject({
      code: "invalid_scope",
      extras: { vendorError: "E7" },
    });
    await expect(read({ error: "invalid_grant" }, fields, 400)).rejects.toMatchObject({ code: "invalid_grant" });
  });

  it("may stand at another member, a list's included", async () => {
    const fields: Partial<Vendor> = { errorMember: "errors.0.field", tokenErrors: { refresh_token: "invalid_grant" } };
    const refusal = { message: "Bad Request", errors: [{ resource: "RefreshToken", field: "refresh_token" }] };
    await expect(read(refusal, fields, 400)).rejects.toMatchObject({
      code: "invalid_grant",
      extras: { vendorError: "refresh_token" },
    });
    const unknown = { errors: [{ field: "else" }] };
    await expect(read(unknown, fields, 400)).rejects.toMatchObject({ code: "vendor_response_invalid" });
    for (const other of [{}, { errors: [] }, { errors: [{ field: "" }] }, { errors: { field: {} } }]) {
      await expect(read(other, fields, 400)).rejects.toMatchObject({ code: "vendor_response_invalid" });
      await expect(read(other, fields, 401)).rejects.toMatchObject({ code: "vendor_credentials_rejected" });
    }
    const message = { errorMember: "message", tokenErrors: { "Invalid refresh token": "invalid_grant" } } as const;
    const answer = { status: 400, message: "Invalid refresh token" };
    await expect(read(answer, message, 400)).rejects.toMatchObject({ code: "invalid_grant" });
    await expect(read({ error: "invalid_grant", message: "x" }, message, 400)).rejects.toMatchObject({
      code: "invalid_grant",
    });
    await expect(
      read({ code: 7 }, { errorMember: "code", tokenErrors: { "7": "invalid_scope" } }, 400),
    ).rejects.toMatchObject({ code: "invalid_scope" });
  });

  it("means the same on the callback by a map of its own", () => {
    const callbackErrors = { suspended: "vendor_credentials_rejected" } as const;
    expect(mapCallbackError({ error: "suspended" }, { callbackErrors }).code).toBe("vendor_credentials_rejected");
    expect(mapCallbackError({ error: "suspended" }).code).toBe("server_error");
    expect(mapCallbackError({ error: "access_denied" }, { callbackErrors }).code).toBe("access_denied");
  });

  it("is reported with the file's reason and sentence, at the callback and after", async () => {
    const meaning = { reason: "ask_admin", description: "An administrator must consent" };
    const fields: Partial<Vendor> = {
      classifyError: ({ error_description: text }) => /^E\d/.exec(typeof text === "string" ? text : "")?.[0],
      callbackErrors: { E9: { code: "server_error", ...meaning } },
      tokenErrors: { E9: { code: "invalid_grant", ...meaning } },
    };
    const parameters = { error: "access_denied", error_description: "E9: no" };
    expect(mapCallbackError(parameters, fields)).toEqual({ code: "server_error", vendorError: "E9", ...meaning });
    expect(mapCallbackError({ error: "access_denied" }, fields)).toEqual({
      code: "access_denied",
      vendorError: "access_denied",
    });
    await expect(read(parameters, fields, 400)).rejects.toMatchObject({
      code: "invalid_grant",
      description: meaning.description,
      extras: { reason: meaning.reason, vendorError: "E9" },
    });
  });
});
