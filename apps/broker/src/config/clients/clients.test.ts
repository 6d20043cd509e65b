import { createHash, generateKeyPairSync } from "node:crypto";
import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { CLIENT, load, MINIMAL, problemsOf, SECRET } from "../testing/config-file.ts";

const VENDORS = { "my-vendor": { name: "My Vendor", issuer: "https://vendor.example" } };
const { client_id, redirect_uris } = CLIENT;
const WITHOUT_SECRET = { client_id, redirect_uris };

const clientOf = (fields: object, more: object = {}) =>
  load({ ...MINIMAL, vendors: VENDORS, clients: [{ ...CLIENT, ...fields }], ...more }).clients[0];
const problemsOfClient = (fields: object): string[] => problemsOf({ vendors: VENDORS, clients: [fields] });
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const rsaKey = (modulusLength: number): object =>
  generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "jwk" });
const RSA = rsaKey(2048);

describe("a client", () => {
  it("keeps only the digest of its secret, and has defaults", () => {
    const client = clientOf({});
    expect(client).toEqual({
      clientId: "platform",
      secretDigests: [sha256(SECRET)],
      redirectUris: ["https://acme.platform.example/oauth/vendor-callback"],
      browserBinding: "required",
      refreshTokens: "vendor",
      allowOverrides: true,
      approvedVendors: [],
    });
  });

  it("may have two secrets while one replaces the other, but not three", () => {
    const next = "fedcba9876543210fedcba9876543210";
    expect(clientOf({ client_secret: [SECRET, next] })?.secretDigests).toEqual([sha256(SECRET), sha256(next)]);
    expect(problemsOfClient({ ...CLIENT, client_secret: [SECRET, next, "x".repeat(32)] })).toEqual([
      "clients[0].client_secret may have two values at most, the old one and the new one",
    ]);
    expect(problemsOfClient({ ...CLIENT, client_secret: [] })).toEqual([
      "clients[0].client_secret must have at least one entry",
    ]);
  });

  it("takes every other field", () => {
    const same = { owner: "acme", name: "Acme Platform", vendors: ["my-vendor"] };
    const [uri, approved] = ["https://acme.platform.example/connect", ["my-vendor"]];
    const fields = { browser_binding: "platform", allow_overrides: false, initiate_login_uri: uri };
    const owner = { id: "acme", name: "Acme Corp" };
    const owners = [{ ...owner, approved_vendors: approved, initial_access_token: { "my-vendor": "iat" } }];
    const config = load({ ...MINIMAL, owners, vendors: VENDORS, clients: [{ ...CLIENT, ...same, ...fields }] });
    expect(config.clients[0]).toMatchObject({
      ...same,
      browserBinding: "platform",
      allowOverrides: false,
      approvedVendors: approved,
      initiateLoginUri: uri,
    });
    const initialAccessTokens = new Map([["my-vendor", new Secret("iat")]]);
    expect(config.owners).toEqual([{ ...owner, approvedVendors: approved, initialAccessTokens }]);
    expect(config.clients[0]?.initialAccessTokens?.get("my-vendor")?.reveal()).toBe("iat");
    expect(clientOf({})).not.toHaveProperty("initialAccessTokens");
  });

  it.each([["two words"], ["line\nbreak"], ["tökén"], ["x".repeat(4097)]])(
    "refuses an initial access token that fits no header, %#",
    (token) => {
      const problem = "must be visible ASCII without spaces, at most 4096 characters";
      const owners = [{ id: "acme", initial_access_token: { "my-vendor": token } }];
      const ofOwner = problemsOf({ owners, vendors: VENDORS });
      expect(ofOwner).toEqual([`owners[0].initial_access_token.my-vendor ${problem}`]);
      const vendors = { "my-vendor": { ...VENDORS["my-vendor"], initial_access_token: token } };
      expect(problemsOf({ vendors })).toEqual([`vendors.my-vendor.initial_access_token ${problem}`]);
    },
  );

  it("takes its approvals itself when it has no owner", () => {
    expect(clientOf({ approved_vendors: ["my-vendor"] })?.approvedVendors).toEqual(["my-vendor"]);
  });

  it.each([
    [{ ...CLIENT, client_id: "a b" }, "clients[0].client_id has characters a client id must not have"],
    [{ ...CLIENT, client_id: "x".repeat(129) }, "clients[0].client_id has characters a client id must not have"],
    [WITHOUT_SECRET, "clients[0] has no way to authenticate"],
    [{ ...CLIENT, jwks_uri: "https://x.example/jwks" }, "clients[0] has client_secret and jwks_uri"],
    [{ ...CLIENT, owner: "acme" }, "clients[0].owner is not one of the owners"],
    [{ ...CLIENT, redirect_uris: [] }, "clients[0].redirect_uris must have at least one entry"],
    [{ ...CLIENT, redirect_uris: "https://x.example/cb" }, "clients[0].redirect_uris must be a list"],
    [{ client_id, client_secret: SECRET }, "clients[0].redirect_uris is missing"],
    [
      { ...CLIENT, redirect_uris: [...redirect_uris, "http://x.example/cb"] },
      "clients[0].redirect_uris[1] must be https, or http on 127.0.0.1, [::1] or localhost",
    ],
    [{ ...CLIENT, redirect_uris: ["https://x.example/cb#f"] }, "clients[0].redirect_uris[0] must not have a fragment"],
    [{ ...CLIENT, vendors: ["my-vendr"] }, "clients[0].vendors[0] is not a known vendor: did you mean my-vendor?"],
    [{ ...CLIENT, vendors: ["nothing-like-it"] }, "clients[0].vendors[0] is not a known vendor"],
    [{ ...CLIENT, browser_binding: "none" }, 'clients[0].browser_binding must be one of "required", "platform"'],
    [{ ...CLIENT, initiate_login_uri: "connect" }, "clients[0].initiate_login_uri must be an absolute URI"],
    ["platform", "clients[0] must be a mapping"],
  ])("is refused: %j", (fields, problem) => {
    expect(problemsOf({ vendors: VENDORS, clients: [fields] })).toEqual([problem]);
  });

  it.each(["tab\there", "line\nbreak", "ümlaut", "x".repeat(1025)])(
    "rfc6749#A.2 has a secret of printable ASCII, not %j",
    (secret) => {
      expect(problemsOfClient({ ...CLIENT, client_secret: secret })).toEqual([
        "clients[0].client_secret must be printable ASCII, at most 1024 characters",
      ]);
    },
  );

  it("has an id of its own, and so has an owner", () => {
    expect(problemsOf({ clients: [CLIENT, CLIENT], owners: [{ id: "acme" }, { id: "acme" }] })).toEqual([
      "owners[1].id is already used by an earlier entry",
      "clients[1].client_id is already used by an earlier entry",
    ]);
  });

  it("leaves approvals to its owner", () => {
    const clients = [{ ...CLIENT, owner: "acme", approved_vendors: [] }];
    expect(problemsOf({ owners: [{ id: "acme" }], clients })).toEqual([
      "clients[0].approved_vendors belongs to the owner",
    ]);
  });

  it("warns about approvals for unknown vendors: the next release may add them", () => {
    const { warnings } = load({ ...MINIMAL, clients: [{ ...CLIENT, approved_vendors: ["google-workspace"] }] });
    expect(warnings).toEqual(["approved_vendors names google-workspace, which is not a known vendor"]);
  });

  it("refuses an initial access token for an unknown vendor: it belongs to one", () => {
    expect(problemsOf({ owners: [{ id: "acme", initial_access_token: { notoin: "x" } }] })).toEqual([
      "owners[0].initial_access_token.notoin is not a known vendor",
    ]);
  });
});

describe("the keys of a client", () => {
  const newEc = (): object => generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  const ec = newEc();
  const otherEc = newEc();
  const PRIVATE = "has a key (number 1) that is a private key: give the public half only";
  const WITHOUT_USE =
    "has a key (number 1) that neither verifies nor encrypts: use is sig or enc, and key_ops [verify] or those of encryption, where given";
  const UNUSABLE =
    "has a key (number 1) that cannot be used: it must be EC, OKP, or RSA of at least 2048 bits, with a sound value and a kid that is text";
  const NO_SET = "must be a key set: { keys: [ … ] } with 1 to 100 keys";

  it("are a mapping, JSON text from a file, or an address", () => {
    const jwks = { keys: [ec] };
    const files = { "keys/jwks.json": JSON.stringify(jwks) };
    const keysOf = (fields: object) =>
      load({ ...MINIMAL, clients: [{ ...WITHOUT_SECRET, ...fields }] }, { files }).clients[0];
    expect(keysOf({ jwks })).toMatchObject({ secretDigests: [], jwks });
    expect(keysOf({ jwks: "file:keys/jwks.json" })?.jwks).toEqual(jwks);
    const jwks_uri = "https://acme.platform.example/jwks.json";
    expect(keysOf({ jwks_uri })?.jwksUri).toBe(jwks_uri);
  });

  it.each([
    ["a private key", { keys: [generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })] }, PRIVATE],
    [
      "a symmetric key",
      { keys: [ec, { kty: "oct", k: "AAAA" }] },
      "has a key (number 2) that is not an asymmetric JSON Web Key",
    ],
    ["a public key with a private member", { keys: [{ ...RSA, p: "AAAA" }] }, PRIVATE],
    ["a public key with a symmetric member", { keys: [{ ...ec, k: "AAAA" }] }, PRIVATE],
    ["a key for encryption alone", { keys: [{ ...ec, use: "enc" }] }, "has no key for private_key_jwt"],
    ["a key for signing", { keys: [{ ...ec, key_ops: ["sign"] }] }, WITHOUT_USE],
    ["a key for a use of its own", { keys: [{ ...ec, use: "both" }] }, WITHOUT_USE],
    ["RSA with exponent 1", { keys: [{ ...RSA, e: "AQ" }] }, UNUSABLE],
    ["a kid that is a number", { keys: [{ ...ec, kid: 7 }] }, UNUSABLE],
    [
      "two keys of one name",
      { keys: [ec, { ...ec, kid: "a" }, { ...otherEc, kid: "a" }] },
      "has a key (number 2) that has the same kid as another",
    ],
    ["a broken key", { keys: [{ ...ec, x: "AAAA" }] }, UNUSABLE],
    ["no key", { keys: [] }, NO_SET],
    ["a bare key", ec, NO_SET],
    ["text that is no JSON", "{", NO_SET],
  ])("rfc7517#5 bar#JW-3 are refused: %s", (_, jwks, problem) => {
    expect(problemsOfClient({ ...WITHOUT_SECRET, jwks })).toEqual([`clients[0].jwks ${problem}`]);
  });

  it("rfc7518#3.3 refuses RSA keys under 2048 bits", () => {
    const clients = [{ ...WITHOUT_SECRET, jwks: { keys: [RSA] } }];
    expect(load({ ...MINIMAL, clients }).clients).toHaveLength(1);
    expect(problemsOfClient({ ...WITHOUT_SECRET, jwks: { keys: [rsaKey(1024)] } })).toEqual([
      `clients[0].jwks ${UNUSABLE}`,
    ]);
  });
});
