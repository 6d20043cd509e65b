/**
 * The lab's rows on the token endpoint itself: outages, rate limits, redirects, and what they
 * spend.
 */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import {
  type Answer,
  ACCESS_TOKEN,
  CLIENT_SECRET,
  REFRESH_TOKEN,
  soundAnswer,
} from "../testing/network/faulty-vendor.ts";
import { newIdTokenKey } from "../testing/id-tokens.ts";
import { labOfEachTest } from "../testing/network/vendor-lab.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const RESTART = { code: "temporarily_unavailable", status: 503, extras: { retry: "restart" } };
const failure = async (redeemed: Promise<unknown>): Promise<OAuthError> => {
  const error = await redeemed.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof OAuthError) return error;
  throw new Error("expected an OAuthError");
};

describe("a code", () => {
  it("bar#VR-5 is still good when no connection came about", async () => {
    const vendor = await lab.resolve();
    const { port } = new URL(lab.vendor.issuer);
    const error = await failure(
      lab.client.redeemCode(
        { ...vendor, tokenEndpoint: `http://127.0.0.1:${Number(port) === 1 ? 2 : 1}/token` },
        lab.vendor.credentials,
        lab.request,
      ),
    );
    expect(error).toMatchObject({ code: "temporarily_unavailable", status: 503, retryAfterSeconds: 5 });
    expect(error.extras.retry).toBeUndefined();
  });

  it.each<[string, Answer]>([
    ["no answer comes", () => undefined],
    [
      "V-62 the connection is reset before the last byte",
      (response) => void response.writeHead(200, { "content-length": "999" }).write("{", () => response.destroy()),
    ],
    ["the connection is reset before the first byte", (response) => void response.destroy()],
    ["V-64 the vendor answers 500", { status: 500 }],
    ["V-64 the vendor answers 503 with an OAuth error", { status: 503, body: { error: "invalid_grant" } }],
    ["V-63 the vendor answers 429", { status: 429 }],
    ["the vendor says so in a 200", { body: { error: "temporarily_unavailable" } }],
  ])("bar#VR-5 is gone, and sent only once, when %s", async (_title, answer) => {
    lab.vendor.answers.set("/token", answer);
    await expect(lab.redeem()).rejects.toMatchObject(RESTART);
    expect(lab.vendor.times("/token")).toBe(1);
  });

  it.each([
    ["3600", 3600, "vendor"],
    ["-3", 5, undefined],
    ["soon", 5, undefined],
    ["1e9", 5, undefined],
  ])("V-63 rfc9110#10.2.3 waits as long as Retry-After says: %s means %i", async (value, seconds, reason) => {
    lab.vendor.answers.set("/token", { status: 429, headers: { "retry-after": value } });
    const error = await failure(lab.redeem());
    expect([error.retryAfterSeconds, error.extras.reason]).toEqual([seconds, reason]);
  });

  it.each([301, 302, 303, 307, 308])(
    "V-65 bar#EG-12 does not follow the vendor to another host by %i",
    async (status) => {
      lab.vendor.answers.set("/token", {
        status,
        headers: { location: `${lab.vendor.issuer.replace("127.0.0.1", "127.0.0.2")}/token` },
      });
      await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid", status: 502 });
      expect(lab.vendor.times("/token")).toBe(1);
    },
  );

  it("VR-7 is answered with ten megabytes", async () => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), more: "x".repeat(10_000_000) } });
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("V-44 V-45 bar#CB-16 is not sent when the iss that came with it is another's", async () => {
    for (const iss of [`${lab.vendor.issuer}/`, "", "https://honest.example"]) {
      const error = await failure(lab.redeem({ request: { iss } }));
      expect(error).toMatchObject({ code: "invalid_request", extras: { reason: "issuer_mismatch" } });
    }
    expect(lab.vendor.times("/token")).toBe(0);
    await expect(lab.redeem({ request: { iss: lab.vendor.issuer } })).resolves.toHaveProperty("idToken");
  });

  it("V-51 V-52 V-55 is answered in lower case, without a lifetime and without scope", async () => {
    await lab.vendor.grant({}, { token_type: "bEARER", expires_in: undefined, scope: undefined });
    const tokens = await lab.redeem();
    expect(tokens.tokenType).toBe("Bearer");
    expect(tokens).not.toHaveProperty("expiresInSeconds");
    expect(tokens).not.toHaveProperty("scope");
  });
});

describe("bar#VR-7 an answer that is refused while it is read", () => {
  it.each<[string, object, string]>([
    ["the refresh token", { access_token: 7, refresh_token: "new" }, "new"],
    ["the access token", { access_token: "new", refresh_token: 7 }, "new"],
  ])("is given to nobody: %s is revoked", async (_title, body, token) => {
    lab.vendor.answers.set("/token", { body });
    const error = await failure(lab.redeem());
    expect(error).toMatchObject({ code: "vendor_response_invalid", status: 502 });
    await expect.poll(lab.vendor.revoked).toEqual([token]);
  });

  it("is an error in a 200, whose tokens are revoked", async () => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), refresh_token: "new", error: "invalid_grant" } });
    expect(await failure(lab.redeem())).toMatchObject({ code: "invalid_grant", extras: { retry: "restart" } });
    await expect.poll(lab.vendor.revoked).toContain("new");
  });

  it("shows a new refresh token: only a new flow brings another", async () => {
    lab.vendor.answers.set("/token", { body: { access_token: 7, refresh_token: "new" } });
    expect((await failure(lab.redeem())).extras).toEqual({ retry: "restart" });
    lab.vendor.answers.set("/token", { body: { access_token: 7 } });
    expect((await failure(lab.redeem())).extras).toEqual({});
  });

  it("ends nothing where a revocation ends all grants of the user", async () => {
    const revocation = { method: "POST", authentication: "basic", body: "form", tokenParameter: "token" } as const;
    for (const ends of ["grant", "token"] as const) {
      lab.vendor.answers.set("/token", { body: { access_token: `of-${ends}`, refresh_token: 7 } });
      await failure(lab.redeem({ entry: { revocation: { ...revocation, ends, goneStatuses: [] } } }));
    }
    await expect.poll(lab.vendor.revoked).toContain("of-token");
    expect(lab.vendor.revoked()).not.toContain("of-grant");
  });
});

describe("an answer without ID token", () => {
  const MISSING = { code: "vendor_response_invalid", extras: { reason: "id_token_missing" } };

  it.each([
    ["openid was granted", { scope: "openid email" }],
    ["openid was asked for and the answer names no scope", { scope: undefined }],
  ])("oidc-core#3.1.3.3 is refused where %s", async (_title, members) => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), ...members } });
    expect(await failure(lab.redeem())).toMatchObject(MISSING);
  });

  it("oidc-core#3.1.3.3 is refused where the nonce is all that ties the code to the flow", async () => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), scope: "email" } });
    const { codeVerifier: _codeVerifier, ...request } = lab.request;
    const vendor = await lab.resolve({ pkce: "none" });
    expect(await failure(lab.client.redeemCode(vendor, lab.vendor.credentials, request))).toMatchObject(MISSING);
    expect(lab.vendor.received.at(-1)?.form.has("code_verifier")).toBe(false);
  });

  it("is accepted where openid was not granted, and where the vendor has no issuer", async () => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), scope: "email" } });
    await expect(lab.redeem()).resolves.not.toHaveProperty("idToken");
    lab.vendor.answers.set("/token", { body: soundAnswer() });
    const { issuer: _issuer, ...entry } = lab.vendor.entry;
    const endpoints = {
      authorizationEndpoint: `${lab.vendor.issuer}/authorize`,
      tokenEndpoint: `${lab.vendor.issuer}/token`,
    };
    const plain = await lab.client.resolve({ ...entry, ...endpoints });
    await expect(lab.client.redeemCode(plain, lab.vendor.credentials, lab.request)).resolves.toMatchObject({
      accessToken: ACCESS_TOKEN,
    });
  });
});

describe("what a vendor puts into its errors", () => {
  it("V-66 bar#VR-9 is dropped except for its code", async () => {
    const body = {
      error: 'invalid_grant"\r\n<script>',
      error_description: "the secret of another tenant",
      access_token: ACCESS_TOKEN,
      refresh_token: REFRESH_TOKEN,
    };
    lab.vendor.answers.set("/token", { status: 400, body });
    const error = await failure(lab.redeem());
    const shown = JSON.stringify([error.message, error.description, error.detail, error.extras, String(error.cause)]);
    expect(error.extras.vendorError).toBe("invalid_grant   <script>");
    for (const canary of [ACCESS_TOKEN, REFRESH_TOKEN, CLIENT_SECRET, "another tenant"])
      expect(shown).not.toContain(canary);
  });

  it("bar#VR-9 a token in a broken success reaches neither text nor cause", async () => {
    const key = newIdTokenKey("ES256", "x");
    await lab.vendor.grant({ key });
    const error = await failure(lab.redeem());
    expect(inspect(error, { depth: 10 })).not.toContain(ACCESS_TOKEN);
  });
});

describe("bar#VR-9 an error of the vendor", () => {
  it.each([
    ["invalid_grant", 400, "invalid_grant"],
    ["bad_verification_code", 200, "invalid_grant"],
    ["invalid_client", 401, "vendor_credentials_rejected"],
    ["unauthorized_client", 400, "vendor_credentials_rejected"],
    ["incorrect_client_credentials", 200, "vendor_credentials_rejected"],
    ["invalid_scope", 400, "invalid_scope"],
    ["invalid_request", 400, "vendor_response_invalid"],
    ["unsupported_grant_type", 400, "vendor_response_invalid"],
    ["invalid_grant", 403, "invalid_grant"],
    ["something_else", 400, "vendor_response_invalid"],
  ])("%s with status %i is %s", async (vendorError, status, code) => {
    lab.vendor.answers.set("/token", {
      status,
      headers: { "www-authenticate": 'Basic realm="x"' },
      body: { error: vendorError },
    });
    const error = await failure(lab.redeem());
    expect(error).toMatchObject({ code, extras: { vendorError } });
    expect(error.extras.credentialsSource).toBe(code === "vendor_credentials_rejected" ? "shared" : undefined);
  });

  it("is read from a 401 that has no error code", async () => {
    lab.vendor.answers.set("/token", { status: 401, headers: { "content-type": "text/html" }, body: "<html>" });
    expect(await failure(lab.redeem())).toMatchObject({
      code: "vendor_credentials_rejected",
      extras: { credentialsSource: "shared" },
    });
  });
});
