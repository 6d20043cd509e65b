import { describe, expect, it } from "vitest";
import {
  type Answer,
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  REFRESH_TOKEN,
  soundAnswer,
  SUBJECT,
} from "../../testing/network/faulty-vendor.ts";
import { newIdTokenKey } from "../../testing/id-tokens.ts";
import { type Lab, labOfEachTest, NOW } from "../../testing/network/vendor-lab.ts";
import type { Vendor } from "../../registry/vendor.ts";
import { idTokenSubject } from "../id-token/checks.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const ROTATED = { refresh_token: "rotated" };
const WHOLE_GRANTS = {
  method: "POST",
  authentication: "basic",
  body: "form",
  tokenParameter: "token",
  ends: "grant",
  goneStatuses: [],
} as const;
const expected = (): { issuer: string; subject: string } => ({ issuer: lab.vendor.issuer, subject: SUBJECT });

describe("refreshTokens", () => {
  it("V-37 V-54 rfc6749#6 asks with the refresh token and answers the new ones", async () => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), access_token: "second", refresh_token: "rotated" } });
    const tokens = await lab.refresh({ request: { scope: ["a", "b"] } });
    expect(tokens).toMatchObject({ accessToken: "second", refreshToken: "rotated", expiresInSeconds: 3600 });
    const request = lab.vendor.received.at(-1);
    expect(Object.fromEntries(request?.form ?? [])).toEqual({
      grant_type: "refresh_token",
      refresh_token: REFRESH_TOKEN,
      scope: "a b",
    });
    expect(request?.headers.authorization).toBe(
      `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64")}`,
    );
  });

  it("bar#RF-2 V-61 has no refresh token where the vendor sends none: the old one goes on", async () => {
    lab.vendor.answers.set("/token", { body: { access_token: "second", token_type: "bearer" } });
    await expect(lab.refresh()).resolves.toEqual({ accessToken: "second", tokenType: "Bearer", vendorData: {} });
  });

  it("asks the vendor's refresh endpoint where it has one", async () => {
    lab.vendor.answers.set("/refresh", { body: soundAnswer() });
    await lab.refresh({
      entry: { refreshEndpoint: `${lab.vendor.issuer}/refresh`, scopeSeparator: "," },
      request: { scope: ["a", "b"] },
    });
    expect(lab.vendor.times("/token")).toBe(0);
    expect(lab.vendor.received.at(-1)?.form.get("scope")).toBe("a,b");
  });

  it("needs no ID token, and checks one that comes", async () => {
    lab.vendor.answers.set("/token", { body: soundAnswer() });
    await expect(lab.refresh({ request: { expected: expected() } })).resolves.not.toHaveProperty("idToken");
    await lab.vendor.grant({ claims: { nonce: undefined } });
    await expect(lab.refresh({ request: { expected: expected() } })).resolves.toMatchObject({ idToken: expected() });
    await lab.vendor.grant({ claims: { aud: "another" } });
    await expect(lab.refresh()).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "id_token_invalid" },
    });
  });

  it.each([
    ["V-38", "iss", () => ({ issuer: "https://first.example", subject: SUBJECT })],
    ["V-39", "sub", () => ({ issuer: lab.vendor.issuer, subject: "user-0" })],
  ])("%s oidc-core#12.2 bar#RF-6 discards an answer with another %s, and ends nothing", async (_row, _claim, first) => {
    await lab.vendor.grant();
    await expect(lab.refresh({ request: { expected: first() } })).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "subject_mismatch" },
    });
    expect(lab.vendor.times("/revoke")).toBe(0);
  });

  it.each<[string, Answer]>([
    [
      "V-62 the answer is lost",
      (response) => void response.writeHead(200, { "content-length": "99" }).write("{", () => response.destroy()),
    ],
    ["no answer comes", () => undefined],
  ])("bar#RF-9 %s: a new flow is required only where the vendor rotates", async (_title, answer) => {
    lab.vendor.answers.set("/token", answer);
    const lost = { code: "temporarily_unavailable", status: 503 };
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: true } })).rejects.toMatchObject({
      ...lost,
      extras: { retry: "restart" },
    });
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: false } })).rejects.toMatchObject({
      ...lost,
      extras: {},
    });
    await expect(lab.refresh()).rejects.toMatchObject({ ...lost, extras: {} });
    expect(lab.vendor.times("/token")).toBe(3);
  });

  it("bar#RF-9 an answer that is an outage spends nothing", async () => {
    lab.vendor.answers.set("/token", { status: 503, headers: { "retry-after": "8" } });
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: true } })).rejects.toMatchObject({
      code: "temporarily_unavailable",
      retryAfterSeconds: 8,
      extras: {},
    });
  });

  it("keys that cannot be had: restart where the vendor rotates, a retry elsewhere", async () => {
    lab.vendor.answers.set("/jwks", { status: 503 });
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: false } })).rejects.toMatchObject({
      code: "temporarily_unavailable",
      extras: {},
    });
    expect(lab.vendor.times("/revoke")).toBe(0);
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: true } })).rejects.toMatchObject({
      extras: { retry: "restart" },
    });
    expect(lab.vendor.times("/revoke")).toBe(0);
  });

  it.each<[string, object | string, string?]>([
    ["a member is there twice", '{"access_token":"a","refresh_token":"rotated","x":1,"x":2}'],
    ["the access token is missing", { refresh_token: "rotated" }],
    ["the access token is none", { access_token: "a\nb", refresh_token: "rotated" }],
    ["the lot is a form with a parameter twice", "access_token=a&refresh_token=rotated&x=1&x=2", "text/plain"],
  ])(
    "bar#RF-9 an answer refused while it is read has its new refresh token revoked: %s",
    async (_title, body, type = "application/json") => {
      lab.vendor.answers.set("/token", (response) => {
        response.writeHead(200, { "content-type": type }).end(typeof body === "string" ? body : JSON.stringify(body));
      });
      await expect(lab.refresh()).rejects.toMatchObject({
        code: "vendor_response_invalid",
        extras: { retry: "restart" },
      });
      await expect.poll(lab.vendor.revoked).toEqual(["rotated"]);
    },
  );

  it.each([
    ["invalid_grant", "invalid_grant"],
    ["server_error", "vendor_response_invalid"],
    ["temporarily_unavailable", "temporarily_unavailable"],
  ])("bar#RF-9 an error in a 200 loses the new refresh token beside it, which is revoked: %s", async (error, code) => {
    lab.vendor.answers.set("/token", { body: { ...soundAnswer(), ...ROTATED, error } });
    await expect(lab.refresh()).rejects.toMatchObject({ code, extras: { vendorError: error, retry: "restart" } });
    await expect.poll(lab.vendor.revoked).toEqual(["rotated"]);
  });

  it("bar#RF-9 an error in a 200 without tokens spends nothing, of a vendor known to rotate", async () => {
    lab.vendor.answers.set("/token", { body: { error: "temporarily_unavailable" } });
    const error = await lab.refresh({ entry: { rotatesRefreshTokens: true } }).catch((thrown: unknown) => thrown);
    expect(error).toHaveProperty("extras", { vendorError: "temporarily_unavailable" });
    expect(lab.vendor.times("/revoke")).toBe(0);
  });

  it.each<[string, object, Partial<Vendor>, object, number]>([
    ["known to rotate", { access_token: "" }, { rotatesRefreshTokens: true }, { retry: "restart" }, 0],
    ["not known to rotate", { access_token: "" }, {}, {}, 0],
    ["with the same refresh token", { access_token: "", refresh_token: REFRESH_TOKEN }, {}, {}, 0],
    ["that revokes access tokens alone", ROTATED, { revokes: "access_token" }, { retry: "restart" }, 0],
    ["that revokes whole grants", ROTATED, { revocation: WHOLE_GRANTS }, { retry: "restart" }, 0],
  ])("bar#RF-9 an answer refused while it is read, of a vendor %s", async (_title, body, entry, extras, revoked) => {
    lab.vendor.answers.set("/token", { body });
    const error = await lab.refresh({ entry }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "vendor_response_invalid" });
    expect(error).toHaveProperty("extras", extras);
    expect(lab.vendor.times("/revoke")).toBe(revoked);
  });

  it.each<[string, string, () => Promise<void> | void]>([
    ["the keys cannot be had", "temporarily_unavailable", () => void lab.vendor.answers.set("/jwks", { status: 503 })],
    ["the key is unknown", "vendor_response_invalid", () => lab.vendor.grant({ header: { kid: "x" } }, ROTATED)],
    ["the ID token fails", "vendor_response_invalid", () => lab.vendor.grant({ claims: { aud: "another" } }, ROTATED)],
    ["the user is another", "vendor_response_invalid", () => lab.vendor.grant({ claims: { sub: "user-0" } }, ROTATED)],
  ])("bar#RF-9 an answer with another refresh token has spent the old: restart when %s", async (_title, code, fail) => {
    const entries = [{}, { rotatesRefreshTokens: false }];
    for (const [index, entry] of entries.entries()) {
      await lab.vendor.grant({}, ROTATED);
      await fail();
      await expect(lab.refresh({ entry, request: { expected: expected() } })).rejects.toMatchObject({
        code,
        extras: { retry: "restart" },
      });
      await expect.poll(lab.vendor.revoked).toEqual(Array.from({ length: index + 1 }, () => ROTATED.refresh_token));
    }
  });

  it("bar#RF-9 an answer with the same refresh token spends nothing, whatever is wrong with it", async () => {
    await lab.vendor.grant({ claims: { aud: "another" } });
    const error = await lab.refresh().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "vendor_response_invalid", extras: { reason: "id_token_invalid" } });
    expect(error).not.toHaveProperty("extras.retry");
    expect(lab.vendor.times("/revoke")).toBe(0);
  });

  it("ends with the signal of the lease holder, and reports that the refresh token may be spent", async () => {
    lab.vendor.answers.set("/token", () => undefined);
    const lease = new AbortController();
    const asked = lab.refresh({ entry: { rotatesRefreshTokens: true }, request: { signal: lease.signal } });
    await expect.poll(() => lab.vendor.times("/token")).toBe(1);
    lease.abort();
    await expect(asked).rejects.toMatchObject({ code: "temporarily_unavailable", extras: { retry: "restart" } });
  });

  it("never shows a token", async () => {
    lab.vendor.answers.set("/token", { status: 400, body: { error: "x", access_token: ACCESS_TOKEN } });
    const error = await lab.refresh().catch((thrown: unknown) => thrown);
    expect(JSON.stringify([error, String(error)])).not.toMatch(new RegExp(`${ACCESS_TOKEN}|${REFRESH_TOKEN}`));
  });
});

describe("bar#RF-6 an ID token at a refresh that is merely old", () => {
  const OLD = { iat: NOW - 25 * 3600, exp: NOW - 24 * 3600 };
  const STALE_HASH = { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" };

  it.each<[string, Record<string, unknown>]>([
    ["is the first one again", OLD],
    ["was issued a week ago and lives on", { iat: NOW - 604_800 }],
    ["has just expired", { exp: NOW - 60 }],
    ["belongs to the access token of the first answer", STALE_HASH],
    ["is old and of the access token of then", { ...OLD, ...STALE_HASH }],
    ["is old and padded with nulls", { ...OLD, at_hash: null, azp: null, nbf: null }],
  ])("is left out where it %s, and nothing is revoked (h16)", async (_title, claims) => {
    await lab.vendor.grant({ claims }, ROTATED);
    for (const request of [{ expected: expected() }, {}]) {
      const tokens = await lab.refresh({ entry: { rotatesRefreshTokens: true }, request });
      expect(tokens).toMatchObject({ accessToken: ACCESS_TOKEN, refreshToken: ROTATED.refresh_token });
      expect(tokens).not.toHaveProperty("idToken");
    }
    expect(lab.vendor.times("/revoke")).toBe(0);
  });

  it("is left out where it has expired and its key is published no more", async () => {
    const retired = newIdTokenKey("ES256", "retired");
    await lab.vendor.grant({ claims: OLD, key: retired }, ROTATED);
    await expect(lab.refresh({ request: { expected: expected() } })).resolves.not.toHaveProperty("idToken");
    for (const claims of [{ ...STALE_HASH }, { iat: NOW - 604_800 }]) {
      await lab.vendor.grant({ claims, key: retired }, ROTATED);
      await expect(lab.refresh({ request: { expected: expected() } })).rejects.toMatchObject(REFUSED);
    }
  });

  const REFUSED = { code: "vendor_response_invalid", extras: { reason: "id_token_invalid" } };
  it.each<[string, Parameters<Lab["vendor"]["grant"]>[0], object]>([
    ["is of another user", { claims: { ...OLD, sub: "user-0" } }, { extras: { reason: "subject_mismatch" } }],
    ["is of another audience bar#ID-7", { claims: { ...OLD, aud: "another" } }, REFUSED],
    ["is of another issuer", { claims: { ...OLD, iss: "https://other.example" } }, REFUSED],
    ["is for another party", { claims: { ...OLD, azp: "another" } }, REFUSED],
    ["has a signature of another key", { claims: OLD, key: newIdTokenKey("RS256", "key-1") }, REFUSED],
    [
      "names no key, and none fits",
      { claims: OLD, key: newIdTokenKey("ES256", "x"), header: { kid: undefined } },
      REFUSED,
    ],
    ["was issued in the future", { claims: { ...OLD, iat: NOW + 600 } }, REFUSED],
    ["has no time", { claims: { ...OLD, exp: undefined } }, REFUSED],
  ])("is refused where it %s", async (_title, changes, refusal) => {
    await lab.vendor.grant(changes);
    await expect(lab.refresh({ request: { expected: expected() } })).rejects.toMatchObject({
      code: "vendor_response_invalid",
      ...refusal,
    });
  });

  it("bar#ID-4 is refused where the entry does not list its alg", async () => {
    await lab.vendor.grant({ claims: OLD });
    const entry = { idTokenAlgs: ["ES256"] };
    await expect(lab.refresh({ entry, request: { expected: expected() } })).rejects.toMatchObject(REFUSED);
  });

  it("is refused at the first answer", async () => {
    for (const claims of [OLD, STALE_HASH]) {
      await lab.vendor.grant({ claims });
      await expect(lab.redeem()).rejects.toMatchObject(REFUSED);
    }
  });
});

describe("idTokenSubject", () => {
  it.each([
    ["exact", (issuer: string) => issuer],
    ["bare", (issuer: string) => issuer.replace("http://", "")],
  ] as const)(
    "names the same user for a stored ID token as when it was issued, also if its issuer is %s",
    async (issuerSpelling, spelled) => {
      await lab.vendor.grant({ claims: { iss: spelled(lab.vendor.issuer), nonce: undefined } });
      const { idToken } = await lab.refresh({ entry: { issuerSpelling } });
      const { raw, ...named } = idToken ?? { raw: "" };
      expect(idTokenSubject(raw, { issuer: lab.vendor.issuer, issuerSpelling })).toEqual(named);
      expect(named).toEqual(expected());
    },
  );

  it("refuses a text that is not an ID token", () => {
    expect(() => idTokenSubject("no.id.token", { issuerSpelling: "exact" })).toThrow(/vendor_response_invalid/);
  });
});
