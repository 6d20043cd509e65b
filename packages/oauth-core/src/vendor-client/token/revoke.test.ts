import { describe, expect, it } from "vitest";
import { type Answer, CLIENT_ID, CLIENT_SECRET } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type { RevocationDialect } from "../../registry/dialect.ts";
import type { RevokeRequest } from "./revoke.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const BASIC = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64")}`;
const revoke = async (request: RevokeRequest = { token: "t" }): Promise<string> =>
  lab.client.revokeToken(await lab.resolve(), lab.vendor.credentials, request);

describe("revokeToken", () => {
  it("rfc7009#2.1 sends token, hint and client authentication", async () => {
    await expect(revoke({ token: "t", tokenTypeHint: "refresh_token" })).resolves.toBe("token");
    const request = lab.vendor.received.at(-1);
    expect(request).toMatchObject({ method: "POST", path: "/revoke" });
    expect(Object.fromEntries(request?.form ?? [])).toEqual({ token: "t", token_type_hint: "refresh_token" });
    expect(request?.headers.authorization).toBe(BASIC);
  });

  it.each<[string, Answer, string]>([
    ["200", { status: 200 }, "token"],
    ["200 and some text", { status: 200, body: "done" }, "token"],
    ["204", { status: 204 }, "token"],
    ["400 invalid_token", { status: 400, body: { error: "invalid_token" } }, "already"],
    ["400 INVALID_TOKEN", { status: 400, body: { error: "INVALID_TOKEN" } }, "already"],
    ["400 and another word for a dead token", { status: 400, body: { error: "bad_refresh_token" } }, "already"],
    ["200 and an object that says invalid_token", { body: { error: { code: "invalid_token" } } }, "already"],
    ["200 and an error that is none", { body: { error: { code: "ok" }, success: true } }, "token"],
    ["200 that says token_revoked", { status: 200, body: { ok: false, error: "token_revoked" } }, "already"],
  ])("bar#RV-2 rfc7009#2.2 treats %s as revoked", async (_title, answer, outcome) => {
    lab.vendor.answers.set("/revoke", answer);
    await expect(revoke()).resolves.toBe(outcome);
  });

  it.each<[string, Answer, object]>([
    [
      "rfc7009#2.2.1 unsupported_token_type",
      { status: 400, body: { error: "unsupported_token_type" } },
      { code: "unsupported_token_type" },
    ],
    [
      "rfc7009#2.2.1 503",
      { status: 503, headers: { "retry-after": "7" } },
      { code: "temporarily_unavailable", retryAfterSeconds: 7, extras: {} },
    ],
    ["no answer", () => undefined, { code: "temporarily_unavailable", extras: {} }],
    ["invalid_client", { status: 401, body: { error: "invalid_client" } }, { code: "vendor_credentials_rejected" }],
    ["401", { status: 401 }, { code: "vendor_credentials_rejected" }],
    ["invalid_request", { status: 400, body: { error: "invalid_request" } }, { code: "vendor_response_invalid" }],
    ["a page", { status: 400, body: "<html>" }, { code: "vendor_response_invalid" }],
    ["a list", { body: { errors: [{ code: "invalid_client" }] } }, { code: "vendor_credentials_rejected" }],
    ["a 200 without success", { body: { success: false } }, { code: "vendor_response_invalid" }],
    ["404, as a wrong endpoint answers", { status: 404 }, { code: "vendor_response_invalid" }],
    ["a redirect", { status: 302, headers: { location: "/login" } }, { code: "vendor_response_invalid" }],
    [
      "a 200 that is an error",
      { status: 200, body: { ok: false, error: "invalid_request" } },
      { code: "vendor_response_invalid" },
    ],
  ])("bar#RV-2 says what is wrong with %s", async (_title, answer, error) => {
    lab.vendor.answers.set("/revoke", answer);
    await expect(revoke()).rejects.toMatchObject(error);
    expect(lab.vendor.times("/revoke")).toBe(1);
  });

  it("fills our client id where the endpoint has a place for it", async () => {
    lab.vendor.describe({ revocation_endpoint: undefined });
    const revocationEndpoint = `${lab.vendor.issuer}/apps/{client_id}/token`;
    const vendor = { ...(await lab.resolve()), revocationEndpoint };
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, { status: 200 });
    await expect(lab.client.revokeToken(vendor, lab.vendor.credentials, { token: "t" })).resolves.toBe("token");
    expect(lab.vendor.asked()).toContain(`/apps/${CLIENT_ID}/token`);
  });

  it("says what the user can do where the vendor has no way", async () => {
    lab.vendor.describe({ revocation_endpoint: undefined });
    await expect(revoke()).rejects.toMatchObject({
      code: "unsupported_token_type",
      status: 400,
      extras: { help: expect.stringContaining("settings") },
    });
  });

  it("bar#RV-2 says which token to present if only one kind works, without a call", async () => {
    const vendor = { ...(await lab.resolve()), revokes: "access_token" as const, revocationHelp: "Ask the owner" };
    const ofType = (tokenTypeHint?: "access_token" | "refresh_token") =>
      lab.client.revokeToken(vendor, lab.vendor.credentials, {
        token: "t",
        ...(tokenTypeHint === undefined ? {} : { tokenTypeHint }),
      });
    await expect(ofType("refresh_token")).rejects.toMatchObject({
      code: "unsupported_token_type",
      extras: { help: expect.stringContaining("present the access token") },
    });
    expect(lab.vendor.asked()).not.toContain("/revoke");
    await expect(ofType("access_token")).resolves.toBe("token");
    await expect(ofType()).resolves.toBe("token");
    const { revocationEndpoint: _, ...without } = vendor;
    await expect(lab.client.revokeToken(without, lab.vendor.credentials, { token: "t" })).rejects.toMatchObject({
      extras: { help: "Ask the owner" },
    });
  });

  it.each<[string, Partial<RevocationDialect>, object, string]>([
    [
      "DELETE with Basic and JSON",
      { method: "DELETE", authentication: "basic", body: "json", tokenParameter: "access_token" },
      { method: "DELETE", authorization: BASIC, body: '{"access_token":"t"}' },
      "token",
    ],
    [
      "the token as Bearer",
      { authentication: "bearer", body: "none" },
      { method: "POST", authorization: "Bearer t", body: "" },
      "token",
    ],
    [
      "the token in the query",
      { authentication: "none", body: "query" },
      { method: "POST", authorization: undefined, body: "", query: "token=t" },
      "token",
    ],
    [
      "a form without authentication",
      { authentication: "none", ends: "grant" },
      { method: "POST", authorization: undefined, body: "token=t" },
      "grant",
    ],
    [
      "JSON with our client, as Webflow has it",
      {
        authentication: "none",
        body: "json",
        tokenParameter: "access_token",
        parameters: { client_id: "{client_id}", client_secret: "{client_secret}" },
      },
      {
        method: "POST",
        authorization: undefined,
        body: JSON.stringify({ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, access_token: "t" }),
      },
      "token",
    ],
    [
      "the secret under a scheme of its own, as Square has it",
      {
        authentication: "none",
        body: "json",
        tokenParameter: "access_token",
        parameters: { client_id: "{client_id}" },
        headers: { authorization: "Client {client_secret}" },
      },
      {
        method: "POST",
        authorization: `Client ${CLIENT_SECRET}`,
        body: JSON.stringify({ client_id: CLIENT_ID, access_token: "t" }),
      },
      "token",
    ],
    [
      "GET with the token in the query, as Baidu has it",
      { method: "GET", authentication: "none", body: "query", tokenParameter: "access_token" },
      { method: "GET", authorization: undefined, body: "", query: "access_token=t" },
      "token",
    ],
  ])("sends a vendor's own revocation request: %s", async (_title, changes, seen, outcome) => {
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, { status: 204 });
    await expect(revokeBy(changes)).resolves.toBe(outcome);
    const { method, path = "", headers, body } = lab.vendor.received.at(-1) ?? {};
    const query = path.split("?")[1];
    expect({ method, authorization: headers?.authorization, body, query }).toEqual({ query: undefined, ...seen });
  });

  it("sends the token in a header of the vendor's, as Shopify has it, and no second one", async () => {
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, { status: 200, body: {} });
    await revokeBy({ method: "DELETE", authentication: "none", body: "none", headers: { "x-api-token": "{token}" } });
    const { headers, body } = lab.vendor.received.at(-1) ?? {};
    expect([headers?.["x-api-token"], headers?.authorization, body]).toEqual(["t", undefined, ""]);
  });

  it("replaces each name in a value once: a token that looks like one stays a token", async () => {
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, { status: 200, body: {} });
    const dialect = { authentication: "none", parameters: { again: "{token}" } } as const;
    await revokeBy(dialect, "{client_secret}");
    expect(lab.vendor.received.at(-1)?.body).not.toContain(CLIENT_SECRET);
  });

  it.each<[object, unknown]>([
    [{ didRevoke: true }, "token"],
    [{ didRevoke: "true" }, "token"],
    [{ didRevoke: false }, { code: "vendor_response_invalid" }],
    [{ error: { code: 498 } }, { code: "vendor_response_invalid" }],
    [{}, { code: "vendor_response_invalid" }],
  ])("bar#RV-2 takes a 200 for a revocation only if it says so, where the vendor does: %o", async (body, expected) => {
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, { status: 200, body });
    const seen = await revokeBy({ success: { member: "didRevoke", values: ["true"] } }).catch(
      (error: unknown) => error,
    );
    if (typeof expected === "string") expect(seen).toBe(expected);
    else expect(seen).toMatchObject(expected as object);
  });

  it.each<[Answer, object]>([
    [{ status: 422 }, { outcome: "already" }],
    [{ status: 404 }, { outcome: "already" }],
    [{ body: { ok: false, error: "invalid_auth" } }, { outcome: "already" }],
    [{ status: 400, body: { error: { code: 190, type: "OAuthException" } } }, { outcome: "already" }],
    [{ body: { ok: false } }, { code: "vendor_response_invalid" }],
    [{ body: { ok: true, revoked: false } }, { code: "vendor_response_invalid" }],
    [{ body: { ok: true, revoked: true } }, { outcome: "grant" }],
    [{ status: 503 }, { code: "temporarily_unavailable" }],
    [{ status: 307, headers: { location: "/x" } }, { code: "vendor_response_invalid" }],
  ])("reads the response to a vendor's own request: %o is %o", async (answer, expected) => {
    lab.vendor.answers.set(`/apps/${CLIENT_ID}/token`, answer);
    const seen = await revokeBy({ ends: "grant" }).then(
      (outcome) => ({ outcome }),
      (error: unknown) => error,
    );
    expect(seen).toMatchObject(expected);
  });
});

async function revokeBy(changes: Partial<RevocationDialect>, token = "t"): Promise<string> {
  const revocation: RevocationDialect = {
    method: "POST",
    authentication: "basic",
    body: "form",
    tokenParameter: "token",
    ends: "token",
    goneStatuses: [404, 422],
    goneErrors: ["invalid_auth", "190"],
    ...changes,
  };
  const vendor = await lab.resolve({ revocation, revocationEndpoint: `${lab.vendor.issuer}/apps/{client_id}/token` });
  return lab.client.revokeToken(vendor, lab.vendor.credentials, { token });
}
