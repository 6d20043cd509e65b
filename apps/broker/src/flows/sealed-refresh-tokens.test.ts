/**
 * `refresh_tokens: sealed`: a refresh token that any OAuth library sends by itself, because the
 * connection is inside.
 */
import { describe, expect, it } from "vitest";
import type { ClientConfig } from "../config.ts";
import { besideTokens, testBroker, type TestBrokerOptions, testVendor, WAYS } from "../testing/test-broker.ts";

const ENTRY = testVendor(WAYS);
const OWN = { vendor_client_id: "mine", vendor_client_secret: "canary-s3cret" };
type Form = Record<string, string>;

/** @param isRotating false: the vendor keeps its refresh token */
function vendor({ isRotating = true, refreshToken = "rt" } = {}) {
  let n = 0;
  return async (input: string | URL) => {
    const beside = besideTokens(input);
    if (beside !== undefined) return beside;
    n += 1;
    const next = isRotating || n === 1 ? { refresh_token: isRotating ? `${refreshToken}-${n}` : refreshToken } : {};
    return Response.json({ access_token: `at-${n}`, token_type: "bearer", ...next });
  };
}

async function connected(options: TestBrokerOptions = {}, form: Form = {}) {
  const client: Partial<ClientConfig> = { refreshTokens: "sealed", ...options.client };
  const broker = await testBroker({
    vendorAnswers: vendor(),
    config: { vendors: new Map([["acme", ENTRY]]), ...options.config },
    ...options,
    client,
  });
  const { body } = await broker.connect(form);
  const refresh = (refresh_token: unknown, more: Form = {}, clientId?: string) =>
    broker.refresh({ refresh_token: String(refresh_token), ...more }, clientId);
  const revoke = (token: unknown, more: Form = {}, clientId?: string) =>
    broker.post("/v1/revoke", { token: String(token), ...more }, clientId);
  return { ...broker, body, sealed: String(body["refresh_token"]), refresh, revoke };
}

describe("a sealed refresh token", () => {
  it("rfc6749#6 stands in place of the vendor's, and refreshes by itself, again and again", async () => {
    const { body, sealed, refresh, seen } = await connected();
    expect(sealed).toMatch(/^sealed1\.[\w-]{8}\.[\w-]+$/);
    expect(body).toMatchObject({ access_token: "at-1", vendor: "acme", connection: expect.any(String) });
    let current: unknown = sealed;
    for (const n of [2, 3]) {
      const { response, body: next } = await refresh(current);
      expect([response.status, next["access_token"]]).toEqual([200, `at-${n}`]);
      expect(seen.at(-1)?.form.get("refresh_token")).toBe(`rt-${n - 1}`);
      expect(next["refresh_token"]).not.toBe(current);
      current = next["refresh_token"];
    }
  });

  it("is answered anew where the vendor keeps its own, and both go on", async () => {
    const { sealed, refresh, seen, now } = await connected({ vendorAnswers: vendor({ isRotating: false }) });
    const { body } = await refresh(sealed);
    expect(body["refresh_token"]).toMatch(/^sealed1\./);
    now.advance(60);
    for (const token of [body["refresh_token"], sealed]) {
      expect((await refresh(token, { scope: String(token).slice(-6) })).response.status).toBe(200);
      expect(seen.at(-1)?.form.get("refresh_token")).toBe("rt");
    }
  });

  it("rfc7009#2.1 revokes by itself: the vendor gets its own token, as a refresh token", async () => {
    for (const more of [{}, { token_type_hint: "refresh_token" }, { token_type_hint: "access_token" }]) {
      const { sealed, revoke, seen } = await connected();
      expect((await revoke(sealed, more)).body).toEqual({ revoked: "token" });
      expect(Object.fromEntries(seen.at(-1)?.form ?? [])).toEqual({ token: "rt-1", token_type_hint: "refresh_token" });
    }
  });

  it("stands wherever a connection is taken", async () => {
    const { body, sealed, post, revoke } = await connected();
    const access_token = String(body["access_token"]);
    const connection = String(body["connection"]);
    for (const beside of [{ connection: sealed }, { refresh_token: sealed }, { connection }]) {
      expect((await post("/v1/check", { access_token, ...beside })).body).toMatchObject({ active: true });
    }
    expect((await post("/v1/check", { access_token })).body["error"]).toBe("invalid_request");
    expect((await post("/v1/explain", { connection: sealed })).body).toMatchObject({ vendor: "acme" });
    expect((await revoke(access_token, { connection: sealed })).body).toEqual({ revoked: "token" });
  });

  it("bar#RF-1 shares one vendor call with all sealed values of a token, and the token itself", async () => {
    const { sealed, refresh, seen, body } = await connected({ vendorAnswers: vendor({ isRotating: false }) });
    const before = seen.length;
    const again = String((await refresh(sealed)).body["refresh_token"]);
    expect(again).not.toBe(sealed);
    const answers = await Promise.all([
      refresh(sealed),
      refresh(again),
      refresh("rt", { connection: String(body["connection"]) }),
    ]);
    expect(answers.map((answer) => answer.body["access_token"])).toEqual(["at-2", "at-2", "at-2"]);
    expect(seen).toHaveLength(before + 1);
  });

  it("says nothing of what is inside", async () => {
    const { sealed } = await connected();
    const readable = Buffer.from(sealed.split(".")[2] ?? "", "base64url").toString("latin1");
    expect(sealed + readable).not.toMatch(/rt-1|acme|platform/);
  });

  it.each<[string, Form]>([
    ["the vendor's name", { vendor: "acme" }],
    ["a token endpoint", { token_endpoint: "https://acme.example/token" }],
    ["an authorization endpoint", { authorization_endpoint: "https://acme.example/authorize" }],
    ["an issuer", { issuer: "https://acme.example" }],
    ["placeholders", { placeholders: '{"shop":"x"}' }],
    ["a client id at the vendor", { vendor_client_id: "mine" }],
    ["another connection", { connection: "a.r3flect" }],
  ])("goes only to what it was minted at: %s beside it is invalid_request", async (_, beside) => {
    const { sealed, refresh, revoke, post, seen, body } = await connected();
    const asked = [
      await refresh(sealed, beside),
      await revoke(sealed, beside),
      await post("/v1/check", { access_token: String(body["access_token"]), refresh_token: sealed, ...beside }),
    ];
    for (const { response, body: refused } of asked) {
      expect([response.status, refused["error"]]).toEqual([400, "invalid_request"]);
    }
    expect(seen).toHaveLength(1);
  });

  it("beside a connection: its own, of this answer or an earlier one, and none of another vendor", async () => {
    const vendors = new Map(["acme", "second"].map((id) => [id, testVendor({ id, ...WAYS })]));
    const { sealed, refresh, body, connect, seen } = await connected({ config: { vendors } });
    const connection = String(body["connection"]);
    const next = await refresh(sealed, { connection });
    expect(next.response.status).toBe(200);
    expect((await refresh(next.body["refresh_token"], { connection })).response.status).toBe(200);
    const elsewhere = await connect({ vendor: "second" });
    const before = seen.length;
    const wrong = await refresh(sealed, { connection: String(elsewhere.body["connection"]) });
    expect(wrong.body["error"]).toBe("invalid_request");
    const sealedOfSecond = String(elsewhere.body["refresh_token"]);
    expect((await refresh(sealed, { connection: sealedOfSecond })).body["error"]).toBe("invalid_request");
    expect(seen).toHaveLength(before);
  });

  it("bar#RF-7 rfc6749#10.4 of another client is invalid_grant everywhere, and nothing is sent", async () => {
    const { sealed, refresh, revoke, post, seen } = await connected();
    const asked = [
      await refresh(sealed, {}, "other"),
      await revoke(sealed, {}, "other"),
      await post("/v1/check", { access_token: "at-1", refresh_token: sealed }, "other"),
    ];
    expect(asked.map(({ body }) => body["error"])).toEqual(["invalid_grant", "invalid_grant", "invalid_grant"]);
    expect(seen).toHaveLength(1);
  });

  it("bar#RF-7 altered, cut or longer: invalid_grant, at revoke unsupported_token_type", async () => {
    const { sealed, refresh, revoke, seen } = await connected();
    const at = [8, 17, sealed.length >> 1, sealed.length - 2];
    const altered = at.map((i) => sealed.slice(0, i) + (sealed[i] === "A" ? "B" : "A") + sealed.slice(i + 1));
    for (const wrong of [...altered, sealed.slice(0, -1), `${sealed}A`, `${sealed}.x`, "sealed1.", "sealed1.a.b"]) {
      expect((await refresh(wrong)).body["error"]).toBe("invalid_grant");
      const { response, body } = await revoke(wrong);
      expect([response.status, body["error"], typeof body["help"]]).toEqual([400, "unsupported_token_type", "string"]);
    }
    expect(seen).toHaveLength(1);
  });

  it("ends with the keyset it was sealed under", async () => {
    const { sealed } = await connected();
    const { post, refresh, seen } = await testBroker({ client: { refreshTokens: "sealed" } });
    expect((await refresh({ refresh_token: sealed })).body["error"]).toBe("invalid_grant");
    expect((await post("/v1/revoke", { token: sealed })).body["error"]).toBe("unsupported_token_type");
    expect(seen).toEqual([]);
  });

  it("goes on after a rotation of the keys", async () => {
    const { sealed, refresh, deps, now } = await connected();
    const { kid } = await deps.keyset.rotate();
    now.advance(60);
    const { body } = await refresh(sealed);
    expect(body["refresh_token"]).toMatch(new RegExp(`^sealed1\\.${kid}\\.`));
    expect((await refresh(body["refresh_token"])).body["access_token"]).toBe("at-3");
  });

  it("bar#BY-4 never goes to a host that was not the vendor's when it was minted", async () => {
    const vendors = new Map([["acme", ENTRY]]);
    const { sealed, refresh, revoke, seen } = await connected({ config: { vendors } });
    const at = "https://evil.example";
    vendors.set("acme", testVendor({ tokenEndpoint: `${at}/token`, revocationEndpoint: `${at}/revoke` }));
    for (const { body } of [await refresh(sealed), await revoke(sealed)]) {
      expect(body).toMatchObject({ error: "invalid_grant", reason: "connection_endpoint_changed" });
    }
    expect(seen).toHaveLength(1);
  });

  it("is left out, and the log says so, where the vendor's own does not fit into 16 KB", async () => {
    for (const [length, isThere] of [
      [15_800, true],
      [16_300, false],
    ] as const) {
      const { body, lines } = await connected({ vendorAnswers: vendor({ refreshToken: "r".repeat(length) }) });
      expect([body["access_token"], "refresh_token" in body]).toEqual(["at-1", isThere]);
      expect(lines.join("").includes("too long to be sealed")).toBe(!isThere);
      expect(String(body["refresh_token"]).length).toBeLessThan(22_000);
    }
  });
});

describe("the setting", () => {
  /** A broker of the same keys, whose client has another setting. */
  async function later(broker: Awaited<ReturnType<typeof connected>>, refreshTokens: "vendor" | "sealed") {
    const next = await testBroker({
      client: { refreshTokens },
      config: { vendors: new Map([["acme", ENTRY]]) },
      vendorAnswers: vendor({ refreshToken: "later" }),
    });
    Object.assign(next.deps.keyset, broker.deps.keyset);
    return next;
  }

  it("turned off: a sealed token goes on, and the answer has the vendor's own", async () => {
    const broker = await connected();
    const { post, refresh } = await later(broker, "vendor");
    const { response, body } = await refresh({ refresh_token: broker.sealed });
    expect([response.status, body["refresh_token"]]).toEqual([200, "later-1"]);
    expect((await post("/v1/revoke", { token: broker.sealed })).body).toEqual({ revoked: "token" });
  });

  it("turned on: the vendor's own goes on beside its connection, and the answer has a sealed one", async () => {
    const broker = await connected({ client: { refreshTokens: "vendor" } });
    expect(broker.sealed).toBe("rt-1");
    const { post, refresh } = await later(broker, "sealed");
    const connection = String(broker.body["connection"]);
    const { body } = await refresh({ refresh_token: "rt-1", connection });
    expect(body["refresh_token"]).toMatch(/^sealed1\./);
    expect((await post("/v1/revoke", { token: "rt-1", connection })).body).toEqual({ revoked: "token" });
  });

  it.each([
    ["sealed", "unsupported_token_type"],
    ["vendor", "invalid_request"],
  ] as const)("%s: any other token alone at /v1/revoke is %s", async (refreshTokens, error) => {
    const { revoke, refresh, body, seen } = await connected({ client: { refreshTokens } });
    for (const token of [body["access_token"], "rt-1"]) {
      const { response, body: refused } = await revoke(token);
      expect([response.status, refused["error"]]).toEqual([400, error]);
    }
    expect((await refresh("rt-1")).body["error"]).toBe("invalid_request");
    expect(seen).toHaveLength(1);
  });
});

describe("with credentials of the client's own", () => {
  it("bar#BY-4 the secret is not inside: it travels beside the token, and no other does", async () => {
    const { sealed, refresh, revoke, seen } = await connected({}, OWN);
    const before = seen.length;
    const theirs = { ...OWN, vendor_client_id: "theirs" };
    for (const wrong of [{}, { vendor_client_id: "mine" }, { vendor_client_secret: "x" }, theirs]) {
      for (const { body } of [await refresh(sealed, wrong), await revoke(sealed, wrong)]) {
        expect(body["error"]).toBe("invalid_request");
      }
    }
    expect(seen).toHaveLength(before);
    const { body } = await refresh(sealed, OWN);
    expect(body).toMatchObject({ access_token: "at-2", refresh_token: expect.stringMatching(/^sealed1\./) });
    expect((await revoke(body["refresh_token"], OWN)).body).toEqual({ revoked: "token" });
  });

  it("a public client needs nothing beside it", async () => {
    const { sealed, refresh, seen } = await connected({}, { vendor_client_id: "mine" });
    expect((await refresh(sealed)).body["access_token"]).toBe("at-2");
    expect(seen.at(-1)?.form.get("client_id")).toBe("mine");
  });

  it("endpoints of the client's own are inside", async () => {
    const at = "https://own.example";
    const endpoints = { authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token` };
    const { sealed, refresh, seen } = await connected({}, { ...OWN, vendor: "", ...endpoints });
    expect((await refresh(sealed, OWN)).body).toMatchObject({ access_token: "at-2", vendor: "custom" });
    expect(seen.at(-1)?.url).toBe("https://own.example/token");
  });
});
