/**
 * Microsoft Agent 365 from admin consent to disconnect, and every AADSTS error, against its
 * simulator.
 */
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { createTestAuthority, expectError, shared } from "@oauth-broker/oauth-core/testing";
import { startMicrosoftAgent365 } from "@oauth-broker/simulators/vendors";
import { decodeJwt, exportJWK } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { browse } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { describeCancel, describeErrors } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";
const SCOPE = `openid profile ${TOOLS}/McpServers.Mail.All`;

const harness = shared(async () => {
  const simulator = await startMicrosoftAgent365();
  // As in the registry: the caller may name the tenant, and each ID token names its own.
  const endpoints = { ...simulator.endpointsOf("{tenant}"), issuer: simulator.endpoints["issuer"] ?? "" };
  return startVendorHarness({ vendor: { ...simulator, endpoints }, scope: SCOPE });
});
afterEach(() => {
  Object.assign(harness.vendor.settings, {
    homeTenant: undefined,
    idTokenTenant: undefined,
    mfaRequired: false,
    tokenErrors: "documented",
  });
});

const tenants = () => harness.vendor.settings.tenants.map(({ id }) => id);
const asNewTenant = (): void => void (harness.vendor.settings.homeTenant = tenants()[1]);

describe("Microsoft Agent 365", () => {
  it("oidc-core#3.1.3.7 connects with an ID token of the user's tenant, without resource", async () => {
    const { body } = await harness.connect({ form: { resource: "https://agent365.svc.cloud.microsoft/mcp" } });
    expect(body).toMatchObject({
      expires_in: 3599,
      refresh_token: expect.any(String),
      scope: `${TOOLS}/McpServers.Mail.All`,
      vendor_data: { ext_expires_in: 3599 },
    });
    const claims = decodeJwt(String(body["vendor_id_token"]));
    expect(claims).toMatchObject({ tid: tenants()[0], iss: `${harness.vendor.url}/${tenants()[0]}/v2.0` });
    const asked = harness.vendor.requests().find(({ path }) => path === "/organizations/oauth2/v2.0/authorize");
    expect(asked?.query).toMatchObject({ response_mode: "query", scope: `${SCOPE} offline_access` });
    for (const { query, body: sent } of harness.vendor.requests())
      expect({ ...query, ...sent }).not.toHaveProperty("resource");
  });

  it("explains what it would ask: the refresh scope with the rest, and no resource", async () => {
    const form = { vendor: "microsoft-agent365", scope: SCOPE, resource: "https://agent365.svc.cloud.microsoft/mcp" };
    const { body } = await harness.platform.post("/v1/explain", form);
    expect(body["authorization_parameters"]).toMatchObject({
      scope: { value: `${SCOPE} offline_access`, source: "request" },
      response_mode: { value: "query", source: "vendor" },
    });
    expect(body["authorization_parameters"]).not.toHaveProperty("resource");
  });

  it("asks for what the administrator allowed when the caller names no scope", async () => {
    const { body } = await harness.connect({ form: { scope: undefined } });
    expect(String(body["scope"]).split(" ").length).toBeGreaterThan(5);
  });

  it("refreshes: there is a new refresh token, and the old one lives on", async () => {
    const grant = await harness.connect();
    const answer = await harness.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", vendor: "microsoft-agent365" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    const scope = `${TOOLS}/McpServers.Mail.All`;
    expect((await harness.refresh(grant, { scope })).status).toBe(200);
  });

  it("reports when the user has to authorize again", async () => {
    const first = await harness.connect();
    harness.vendor.revokeSessions("user");
    expectError(await harness.refresh(first), 400, "invalid_grant");
    const second = await harness.connect();
    harness.vendor.settings.mfaRequired = true;
    const challenged = await harness.refresh(second);
    expectError(challenged, 400, "invalid_grant");
    expect(challenged.body["vendor_error"]).toBe("interaction_required");
    harness.vendor.settings.tokenErrors = "observed";
    const observed = await harness.refresh(second, { scope: "openid" });
    expectError(observed, 400, "invalid_grant");
    expect(observed.body["vendor_error"]).toBe("interaction_required");
    harness.vendor.refuseNext("token", "AADSTS65001");
    const withdrawn = await harness.refresh(second, { scope: SCOPE });
    expectError(withdrawn, 400, "invalid_grant");
    expect(withdrawn.body["vendor_error"]).toBe("consent_required");
  });

  it("is refused until an administrator of the tenant has consented, and works from then on", async () => {
    asNewTenant();
    const { callback, jar } = await harness.platform.toCallback();
    const returned = new URL((await browse(callback, jar)).headers.get("location") ?? "about:blank").searchParams;
    // The user has not cancelled, whatever the vendor's `error` says.
    expect(Object.fromEntries(returned)).toMatchObject({
      error: "server_error",
      vendor_error: "AADSTS90094",
      reason: "admin_consent_required",
      error_description: expect.stringContaining("administrator"),
    });
    const tenant = harness.vendor.settings.tenants[1];
    if (tenant !== undefined) tenant.adminConsent = true;
    const { body } = await harness.connect();
    expect(decodeJwt(String(body["vendor_id_token"]))).toMatchObject({ tid: tenants()[1] });
    const refreshed = await harness.refresh({
      refreshToken: String(body["refresh_token"]),
      connection: String(body["connection"]),
    });
    expect(refreshed.status, refreshed.text).toBe(200);
  });

  it("oidc-core#3.1.3.7 refuses a user of another tenant when the platform named one", async () => {
    const [first = "", second = ""] = tenants();
    const form = { placeholders: JSON.stringify({ tenant: first }) };
    const grant = await harness.connect({ form });
    expect(decodeJwt(String(grant.body["vendor_id_token"]))).toMatchObject({ tid: first });
    expect(harness.vendor.requests().some(({ path }) => path === `/${first}/oauth2/v2.0/token`)).toBe(true);

    harness.vendor.settings.idTokenTenant = second;
    const journey = await harness.platform.toPlatform({ form });
    const refused = await harness.platform.redeem(journey);
    expectError(refused, 502, "vendor_response_invalid");
    expect(refused.body["reason"]).toBe("id_token_invalid");
    expectError(await harness.refresh(grant), 502, "vendor_response_invalid");
    // When no tenant was named, any tenant is accepted.
    const { body } = await harness.connect();
    expect(decodeJwt(String(body["vendor_id_token"]))).toMatchObject({ tid: second });
  });

  it("rfc7523#3 connects and refreshes with a certificate in place of a secret", async () => {
    const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const { cert, key } = createTestAuthority().issue(["broker.example"], undefined, keys);
    plantSecret("key of a certificate", key.split("\n")[1]);
    const thumbprint = createHash("sha256").update(new X509Certificate(cert).raw).digest("base64url");
    const withCertificate = await startVendorHarness({
      vendor: await startMicrosoftAgent365(),
      scope: SCOPE,
      client: {
        clientSecret: undefined,
        certificates: [{ ...(await exportJWK(keys.publicKey)), "x5t#S256": thumbprint }],
      },
      credentials: `private_key: ${JSON.stringify(key)}, certificate: ${JSON.stringify(cert)}`,
    });
    const grant = await withCertificate.connect();
    const answer = await withCertificate.refresh(grant);
    await withCertificate.close();
    expect(answer.status, answer.text).toBe(200);
    const sent = withCertificate.vendor.requests().filter(({ path }) => path.endsWith("/token"));
    expect(sent).toHaveLength(2);
    for (const { body } of sent) expect(body).not.toHaveProperty("client_secret");
  });

  it("bar#RV-2 cannot revoke, and says what the user can do", async () => {
    const grant = await harness.connect();
    const answer = await harness.revoke(grant.refreshToken, grant);
    expectError(answer, 400, "unsupported_token_type");
    expect(answer.body["help"]).toContain("myapps.microsoft.com");
    expect(harness.vendor.isLive(grant.accessToken)).toBe(true);
  });

  describe("while users may consent themselves", () => {
    const mayConsent = (usersMayConsent: boolean) => (): void =>
      void Object.assign(harness.vendor.settings.tenants[0] ?? {}, {
        usersMayConsent,
        adminConsent: !usersMayConsent,
      });
    beforeEach(mayConsent(true));
    afterEach(mayConsent(false));
    describeCancel(() => harness);
  });
  describeCancel(() => harness, ["cancel-sign-in"]);
  describeErrors(() => harness, {
    token: {
      AADSTS50076: [400, "invalid_grant"],
      AADSTS50079: [400, "invalid_grant"],
      AADSTS50105: [400, "invalid_grant"],
      AADSTS50173: [400, "invalid_grant"],
      AADSTS53003: [400, "invalid_grant"],
      AADSTS54005: [400, "invalid_grant"],
      AADSTS500011: [400, "invalid_scope"],
      AADSTS65001: [400, "invalid_grant"],
      AADSTS70008: [400, "invalid_grant"],
      AADSTS700016: [400, "vendor_credentials_rejected"],
      AADSTS700082: [400, "invalid_grant"],
      AADSTS7000215: [400, "vendor_credentials_rejected"],
      AADSTS7000222: [400, "vendor_credentials_rejected"],
    },
    authorization: {
      AADSTS50105: "access_denied",
      AADSTS500011: "invalid_scope",
      AADSTS53003: "server_error",
      AADSTS65001: "access_denied",
      AADSTS65004: "access_denied",
      AADSTS700016: "vendor_credentials_rejected",
      AADSTS90094: "server_error",
      AADSTS900941: "server_error",
    },
    vendorError: {
      AADSTS50076: "interaction_required",
      AADSTS50079: "interaction_required",
      AADSTS50173: "invalid_grant",
      AADSTS53003: "interaction_required",
      AADSTS54005: "invalid_grant",
      AADSTS500011: "invalid_resource",
      AADSTS65001: "consent_required",
      AADSTS65004: "access_denied",
      AADSTS70008: "invalid_grant",
      AADSTS700016: "unauthorized_client",
      AADSTS700082: "invalid_grant",
      AADSTS7000215: "invalid_client",
      AADSTS7000222: "invalid_client",
    },
  });
});
