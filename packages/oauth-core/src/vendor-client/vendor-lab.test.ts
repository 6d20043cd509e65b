/**
 * The misbehaving-vendor lab, one row per fault (docs: the bar's section 4), first the OpenID
 * relying-party modules. A real OpenID provider on loopback with one fault, and a check of what it
 * received.
 */
import { describe, expect, it } from "vitest";
import { CLIENT_ID, CLIENT_SECRET, NONCE, soundAnswer, SUBJECT } from "../testing/network/faulty-vendor.ts";
import { newIdTokenKey, signText, unsigned, withBrokenSignature } from "../testing/id-tokens.ts";
import { labOfEachTest } from "../testing/network/vendor-lab.ts";

const lab = labOfEachTest();

const SECOND = newIdTokenKey("RS256", "key-2");
const OUR_SECRET = Buffer.from(CLIENT_SECRET.repeat(2));
const REFUSED = { code: "vendor_response_invalid", extras: { reason: "id_token_invalid" } };

/** The vendor's tokens are useless then, so the vendor is asked to revoke them. */
async function expectRefusedAndRevoked(): Promise<void> {
  await expect(lab.redeem()).rejects.toMatchObject(REFUSED);
  expect(lab.vendor.times("/token")).toBe(1);
  await expect.poll(() => lab.vendor.asked()).toContain("/revoke");
}

describe("an ID token that is sound", () => {
  it("V-1 V-10 V-18 redeems the code for the vendor's tokens", async () => {
    const { idToken, ...tokens } = await lab.redeem();
    expect(tokens).toEqual({
      accessToken: "access-token-of-the-vendor",
      tokenType: "Bearer",
      expiresInSeconds: 3600,
      refreshToken: "refresh-token-of-the-vendor",
      scope: ["openid"],
      vendorData: {},
    });
    expect(idToken).toMatchObject({ issuer: lab.vendor.issuer, subject: "user-1" });
    expect(lab.vendor.asked()).toEqual(["/.well-known/openid-configuration", "/token", "/jwks"]);
  });

  it("V-2 authenticates with Basic, and V-60 puts secret, code and verifier in no other place", async () => {
    await lab.redeem();
    const [, token] = lab.vendor.received;
    const basic = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64");
    expect(token?.headers.authorization).toBe(`Basic ${basic}`);
    expect(Object.fromEntries(token?.form ?? [])).toEqual({
      grant_type: "authorization_code",
      code: lab.request.code,
      redirect_uri: lab.request.redirectUri,
      code_verifier: lab.request.codeVerifier,
    });
    const others = lab.vendor.received.filter((request) => request !== token);
    for (const secret of [CLIENT_SECRET, basic, lab.request.code, "verifier"])
      expect(JSON.stringify(others)).not.toContain(secret);
  });

  it.each(["ES256", "PS256", "EdDSA"] as const)("V-10 may be signed with %s", async (alg) => {
    const key = newIdTokenKey(alg, "other");
    lab.vendor.keys.push(key);
    await lab.vendor.grant({ key });
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
  });

  it("V-40 V-41 may point to claims elsewhere, which are not fetched", async () => {
    const elsewhere = { endpoint: `${lab.vendor.issuer}/claims`, access_token: "x" };
    await lab.vendor.grant({ claims: { _claim_names: { address: "s" }, _claim_sources: { s: elsewhere } } });
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    expect(lab.vendor.asked()).not.toContain("/claims");
  });

  it.each<[string, Parameters<typeof lab.vendor.grant>[0]]>([
    ["V-8 may leave out kid where there is one key", { header: { kid: undefined } }],
    ["V-23 may leave out at_hash", {}],
    ["V-48 may name us as the only member of an array", { claims: { aud: [CLIENT_ID] } }],
    ["bar#ID-6 may be ten seconds ahead", { claims: { iat: at(10), nbf: at(10) } }],
    ["bar#ID-6 may be a minute ahead", { claims: { iat: at(60), nbf: at(60) } }],
    ["bar#ID-6 may have ended 59 seconds ago", { claims: { exp: at(-59) } }],
  ])("%s", async (_title, changes) => {
    await lab.vendor.grant(changes);
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
  });
});

function at(offset: number): number {
  return 1_700_000_000 + offset;
}

it.each<[string, Record<string, unknown>]>([
  ["V-3 iss is another issuer", { iss: "https://honest.example" }],
  ["V-3 iss differs by a slash", { iss: "slash" }],
  ["V-50 iss is missing", { iss: undefined }],
  ["V-4 bar#ID-8 sub is missing", { sub: undefined }],
  ["bar#ID-8 sub is empty", { sub: "" }],
  ["bar#ID-8 sub is a number", { sub: 7 }],
  ["bar#ID-8 sub is 300 characters long", { sub: "s".repeat(300) }],
  ["bar#ID-8 sub holds NUL", { sub: "user\0" }],
  ["V-5 aud is another client", { aud: "another" }],
  ["V-6 aud is missing", { aud: undefined }],
  ["V-47 bar#ID-7 aud has a second member", { aud: [CLIENT_ID, "another"] }],
  ["V-47 bar#ID-7 aud has a second member and azp is us", { aud: [CLIENT_ID, "another"], azp: CLIENT_ID }],
  ["bar#ID-7 azp is another client", { azp: "another" }],
  ["V-7 iat is missing", { iat: undefined }],
  ["V-16 nonce is another", { nonce: "another" }],
  ["V-50 nonce is missing", { nonce: undefined }],
  ["V-22 bar#ID-9 at_hash is of another token", { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" }],
  ["V-49 bar#ID-6 exp is five minutes past", { exp: at(-300) }],
  ["V-49 bar#ID-6 exp is missing", { exp: undefined }],
  ["bar#ID-6 exp is a string", { exp: `${at(3600)}` }],
  ["bar#ID-6 exp is 1e20", { exp: 1e20 }],
  ["V-55 bar#ID-6 iat is a week past", { iat: at(-604_800) }],
  ["bar#ID-6 iat is 61 s ahead", { iat: at(61) }],
  ["bar#ID-6 nbf is 61 s ahead", { nbf: at(61) }],
  ["auth_time is a string", { auth_time: `${at(0)}` }],
])("oidc-core#3.1.3.7 bar#ID-6 bar#ID-7 bar#ID-8 bar#ID-9 wrong claims end the tokens %s", async (_title, claims) => {
  await lab.vendor.grant({ claims: claims.iss === "slash" ? { iss: `${lab.vendor.issuer}/` } : claims });
  await expect(lab.redeem()).rejects.toMatchObject(REFUSED);
  await expect.poll(() => lab.vendor.asked()).toContain("/revoke");
});

describe("oidc-core#3.1.3.7 bar#ID-7 a vendor whose ID tokens name further audiences", () => {
  const entry = { additionalAudiences: true };
  const more = [CLIENT_ID, "project", "https://vendor.example"];

  it("is accepted where azp is us (h18)", async () => {
    for (const aud of [more, more.toReversed(), [CLIENT_ID]]) {
      await lab.vendor.grant({ claims: { aud, azp: CLIENT_ID } });
      await expect(lab.redeem({ entry })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
    }
    await lab.vendor.grant();
    await expect(lab.redeem({ entry })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it.each<[string, Record<string, unknown>]>([
    ["azp is absent", { aud: more }],
    ["azp is null", { aud: more, azp: null }],
    ["azp is another", { aud: more, azp: "project" }],
    ["azp is a list", { aud: more, azp: [CLIENT_ID] }],
    ["we are no audience", { aud: ["project", "https://vendor.example"], azp: CLIENT_ID }],
    ["another alone is the audience", { aud: "project", azp: CLIENT_ID }],
    ["the list is empty", { aud: [], azp: CLIENT_ID }],
  ])("is refused where %s (h18)", async (_title, claims) => {
    await lab.vendor.grant({ claims });
    await expect(lab.redeem({ entry })).rejects.toMatchObject(REFUSED);
  });
});

describe("a claim that is null", () => {
  const padded = { at_hash: null, azp: null, nbf: null, auth_time: null, acr: null };

  it("counts as absent, and the token is passed on as signed (h17)", async () => {
    await lab.vendor.grant({ claims: padded, header: { x5t: null } });
    const { idToken } = await lab.redeem();
    expect(idToken).toMatchObject({ issuer: lab.vendor.issuer, subject: SUBJECT });
    expect(Buffer.from(idToken?.raw.split(".")[1] ?? "", "base64url").toString()).toContain('"azp":null');
    await lab.vendor.grant({ claims: { ...padded, nonce: null } });
    await expect(lab.refresh()).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it.each(["iss", "sub", "aud", "exp", "iat", "nonce"])("does not stand for %s", async (name) => {
    await lab.vendor.grant({ claims: { ...padded, [name]: null } });
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });
});

describe("bar#ID-2 an ID token with a wrong signature is refused, and the tokens are revoked", () => {
  const claims = (): object => ({
    iss: lab.vendor.issuer,
    sub: "user-1",
    aud: CLIENT_ID,
    iat: at(0),
    exp: at(60),
    nonce: NONCE,
  });
  const answerWith = (idToken: string): void => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), id_token: idToken } });
  };
  const first = (): (typeof lab.vendor.keys)[number] => lab.vendor.keys[0] ?? SECOND;
  const sign = (
    header: Record<string, unknown>,
    key: Parameters<typeof signText>[2] = first().privateKey,
    payload = JSON.stringify(claims()),
  ): Promise<string> => signText(payload, { kid: first().kid, ...header }, key);

  it("V-9 kid is absent and several keys fit", async () => {
    lab.vendor.keys.push(SECOND);
    await lab.vendor.grant({ header: { kid: undefined } });
    await expectRefusedAndRevoked();
  });

  const NO_ALGS = ["none", "None", ""].map((alg): [string, () => string] => [
    `V-11 V-50 alg is "${alg}" and there is no signature`,
    () => unsigned(claims(), { alg, kid: first().kid }),
  ]);

  it.each<[string, () => string | Promise<string>]>([
    ...NO_ALGS,
    ["V-50 alg is absent", async () => withHeader(await sign({ alg: "RS256" }), { kid: first().kid })],
    ["V-12 the RS256 signature is broken", async () => withBrokenSignature(await sign({ alg: "RS256" }))],
    ["V-14 our secret signs with HS256", () => sign({ alg: "HS256" }, OUR_SECRET)],
    [
      "bar#ID-4 the vendor's public key signs with HS256",
      () => sign({ alg: "HS256" }, Buffer.from(JSON.stringify(SECOND.publicJwk))),
    ],
    ["V-57 bar#ID-3 kid is right and the key is another", () => sign({ alg: "RS256" }, SECOND.privateKey)],
    ["bar#ID-5 the header has zip", () => sign({ alg: "RS256", zip: "DEF" })],
    ["bar#ID-5 the header has crit", () => sign({ alg: "RS256", b64: true, crit: ["b64"] })],
    [
      "V-69 sub stands in it twice",
      () => sign({ alg: "RS256" }, first().privateKey, JSON.stringify(claims()).replace("{", '{"sub":"admin",')),
    ],
  ])("%s", async (_title, made) => {
    answerWith(await made());
    await expectRefusedAndRevoked();
  });

  it("V-13 the ES256 signature is broken", async () => {
    const key = newIdTokenKey("ES256", "ec");
    lab.vendor.keys.push(key);
    answerWith(withBrokenSignature(await sign({ alg: "ES256", kid: "ec" }, key.privateKey)));
    await expectRefusedAndRevoked();
  });

  it("bar#ID-4 HS256 stays refused where an entry lists it", async () => {
    answerWith(await sign({ alg: "HS256" }, OUR_SECRET));
    await expect(lab.redeem({ entry: { idTokenAlgs: ["HS256", "none"] } })).rejects.toMatchObject(REFUSED);
  });

  it("V-50 alg is one the entry does not list", async () => {
    await expect(lab.redeem({ entry: { idTokenAlgs: ["ES256"] } })).rejects.toMatchObject(REFUSED);
  });

  it("bar#ID-3 the token brings its own key", async () => {
    answerWith(
      await sign({ alg: "RS256", jwk: SECOND.publicJwk, jku: `${lab.vendor.issuer}/own-keys` }, SECOND.privateKey),
    );
    await expectRefusedAndRevoked();
    expect(lab.vendor.asked()).not.toContain("/own-keys");
  });

  it.each(["a.b.c.d.e", "a.b", "", "x".repeat(70_000), "Zm9v.Zm9v.Zm9v"].map((text) => [text.slice(0, 16), text]))(
    "bar#ID-5 it is not a JWS: %s",
    async (_title, idToken) => {
      answerWith(idToken);
      await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    },
  );
});

function withHeader(token: string, header: object): string {
  return [Buffer.from(JSON.stringify(header)).toString("base64url"), ...token.split(".").slice(1)].join(".");
}
