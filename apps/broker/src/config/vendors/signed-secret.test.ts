/** Credentials of a vendor whose client secret is a signed JWT: a key instead of a secret. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { load, type LoadOptions, MINIMAL, problemsOf, registryOf } from "../testing/config-file.ts";

const pemOf = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const pem = (namedCurve: string): string => pemOf(generateKeyPairSync("ec", { namedCurve }));
const KEY = pem("P-256");
const CREDENTIALS = { client_id: "com.example.service", team_id: "TEAM123456", key_id: "KEY1234567", private_key: KEY };
const registry = registryOf({
  id: "signing",
  tokenEndpointAuthMethod: "client_secret_post",
  clientSecret: { kind: "signed_jwt", audience: "https://signing.example", alg: "ES256", lifetimeSeconds: 300 },
});
const problems = (credentials: object, options: LoadOptions = {}): string[] =>
  problemsOf({ vendors: { signing: { credentials } } }, { registry, ...options });

describe("a signed client secret", () => {
  it.each<[string, string, LoadOptions]>([
    ["in the file", KEY, {}],
    ["in a file of its own", "file:./AuthKey.p8", { files: { "AuthKey.p8": KEY } }],
    ["in a variable", "env:SIGNING_KEY", { env: { SIGNING_KEY: KEY } }],
    ["in a variable, in one line", "env:SIGNING_KEY", { env: { SIGNING_KEY: KEY.trim().replaceAll("\n", "\\n") } }],
  ])("has its key %s", (_title, privateKey, options) => {
    const vendors = { signing: { credentials: { ...CREDENTIALS, private_key: privateKey } } };
    const [credentials] =
      load({ ...MINIMAL, vendors }, { registry, ...options }).vendors.get("signing")?.credentials ?? [];
    expect(credentials).toMatchObject({ id: "com.example.service", source: "shared", clientId: "com.example.service" });
    const { teamId, keyId, privateKey: key } = credentials?.signingKey ?? {};
    expect([teamId, keyId]).toEqual(["TEAM123456", "KEY1234567"]);
    expect(key?.export({ type: "pkcs8", format: "pem" })).toBe(KEY);
    expect(credentials).not.toHaveProperty("clientSecret");
    expect(JSON.stringify(credentials)).not.toContain("PRIVATE");
  });

  it("says everything that is missing or too much at once", () => {
    expect(problems({ client_id: "a", client_secret: "s", key_id: "K" })).toEqual([
      "vendors.signing.credentials[0].team_id is missing",
      "vendors.signing.credentials[0].private_key is missing",
      "vendors.signing.credentials[0].client_secret is not what this vendor takes",
    ]);
  });

  it.each([
    ["not a key", "is not a private key in PEM, or is an encrypted one"],
    [pem("P-384"), "must be an EC key on P-256, for ES256"],
    [pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 })), "must be an EC key on P-256, for ES256"],
  ])("is refused with another key", (privateKey, problem) => {
    expect(problems({ ...CREDENTIALS, private_key: privateKey })).toEqual([
      `vendors.signing.credentials${problem.startsWith("must") ? "[0]" : ""}.private_key ${problem}`,
    ]);
  });

  it("does not come from the variables of secrets", () => {
    const env = { VENDOR_SIGNING_CLIENT_ID: "a", VENDOR_SIGNING_CLIENT_SECRET: "s" };
    expect(problemsOf({}, { registry, env })).toEqual([
      "VENDOR_SIGNING_CLIENT_ID is set, but this vendor takes a key instead of a secret, and keys stand in the file",
    ]);
  });
});
