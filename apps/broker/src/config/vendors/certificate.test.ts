/** Credentials of a vendor that takes a certificate instead of a secret. */
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { createTestAuthority } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { load, type LoadOptions, MINIMAL, problemsOf, registryOf } from "../testing/config-file.ts";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const authority = createTestAuthority();
const { cert, key } = authority.issue(["app.example"], undefined, keys);
const CREDENTIALS = { client_id: "app", private_key: key, certificate: cert };
const registry = registryOf({
  id: "asserting",
  tokenEndpointAuthMethod: "client_secret_post",
  clientAssertion: { alg: "PS256" },
});
const credentialsOf = (credentials: object, options: LoadOptions = {}) =>
  load({ ...MINIMAL, vendors: { asserting: { credentials } } }, { registry, ...options }).vendors.get("asserting")
    ?.credentials;
const problems = (credentials: object): string[] =>
  problemsOf({ vendors: { asserting: { credentials } } }, { registry });

describe("a certificate", () => {
  it("stands in files or in the file, beside a secret of another entry", () => {
    const files = { "app.key": key, "app.pem": cert };
    const inFiles = { client_id: "app", private_key: "file:./app.key", certificate: "file:./app.pem" };
    const older = { id: "older", client_id: "app", client_secret: "s" };
    const credentials = credentialsOf([inFiles, older], { files });
    const thumbprint = createHash("sha256").update(new X509Certificate(cert).raw).digest("base64url");
    const [first, second] = [
      { id: "app", certificate: { thumbprint } },
      { id: "older", clientId: "app" },
    ];
    expect(credentials).toMatchObject([first, second]);
    expect(JSON.stringify(credentials)).not.toContain("PRIVATE");
    expect(credentialsOf(CREDENTIALS)?.[0]?.certificate?.thumbprint).toBe(thumbprint);
  });

  it("may be left to a secret, also of the environment", () => {
    expect(credentialsOf({ client_id: "app", client_secret: "s" })?.[0]).not.toHaveProperty("certificate");
    const env = { VENDOR_ASSERTING_CLIENT_ID: "app", VENDOR_ASSERTING_CLIENT_SECRET: "s" };
    const { vendors } = load({ ...MINIMAL }, { registry, env });
    expect(vendors.get("asserting")?.credentials).toMatchObject([{ source: "environment", clientId: "app" }]);
  });

  const stranger = authority.issue(["app.example"]);
  it.each<[object, string]>([
    [{ client_id: "app" }, "client_secret is missing"],
    [{ client_id: "app", private_key: key }, "certificate is missing"],
    [{ client_id: "app", certificate: cert }, "private_key is missing"],
    [{ ...CREDENTIALS, client_secret: "s" }, "client_secret is not what this vendor takes"],
    [{ ...CREDENTIALS, team_id: "T" }, "team_id is not what this vendor takes"],
    [{ ...CREDENTIALS, certificate: stranger.cert }, "certificate does not belong to private_key"],
    [
      { client_id: "app", private_key: stranger.key, certificate: stranger.cert },
      "private_key must be an RSA key of at least 2048 bits, for PS256",
    ],
  ])("is refused where it is half of one, or another's", (credentials, problem) => {
    expect(problems(credentials)).toEqual([`vendors.asserting.credentials[0].${problem}`]);
  });

  it("is refused when it is not a certificate", () => {
    expect(problems({ ...CREDENTIALS, certificate: "-----BEGIN CERTIFICATE-----" })).toEqual([
      "vendors.asserting.credentials.certificate is not a certificate in PEM",
    ]);
  });
});
