import { beforeEach, describe, expect, it } from "vitest";
import { ISSUER, metadataOfEachTest, OIDC, SOUND } from "../../testing/network/metadata-world.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import { egressError } from "../../egress/errors.ts";

const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;

const world = metadataOfEachTest();
const entry = (changes: Partial<Vendor> = {}): Vendor =>
  defineVendor({ id: "v", name: "V", issuer: ISSUER, ...changes });
const ENDPOINTS = { authorizationEndpoint: "https://x.example/a", tokenEndpoint: "https://x.example/t" };
const INVALID = { code: "vendor_response_invalid", status: 502 };

beforeEach(() => world.publish(OIDC, SOUND));

describe("resolve", () => {
  it("oidc-discovery#4 takes every endpoint from the metadata", async () => {
    expect(await world.discovery.resolve(entry())).toEqual({
      ...entry(),
      authorizationEndpoint: "https://v.example/a",
      tokenEndpoint: "https://t.example/t",
      revocationEndpoint: "https://v.example/r",
      registrationEndpoint: "https://v.example/reg",
      userinfoEndpoint: "https://v.example/u",
      jwksUri: "https://v.example/k",
      issExpected: false,
    });
    expect(world.asked).toEqual([OIDC]);
  });

  it("asks no vendor when the entry says it all, or has no issuer to ask", async () => {
    for (const issRequired of [true, false]) {
      expect(await world.discovery.resolve(entry({ ...ENDPOINTS, issRequired }))).toHaveProperty(
        "issExpected",
        issRequired,
      );
    }
    const template = entry({ ...ENDPOINTS, issuer: "https://v.example/{tenantid}/v2.0" });
    expect(await world.discovery.resolve(template)).toEqual({ ...template, issExpected: false });
    const { issuer: _issuer, ...nameless } = entry(ENDPOINTS);
    expect(await world.discovery.resolve(nameless)).toEqual({ ...nameless, issExpected: false });
    expect(world.asked).toEqual([]);
  });

  it("prefers the entry to the metadata", async () => {
    const resolved = await world.discovery.resolve(
      entry({ tokenEndpoint: "https://x.example/t", jwksUri: "https://x.example/k", issRequired: true }),
    );
    expect(resolved).toMatchObject({
      authorizationEndpoint: "https://v.example/a",
      tokenEndpoint: "https://x.example/t",
      jwksUri: "https://x.example/k",
      issExpected: true,
    });
  });

  it("rfc9207#2.4 expects iss where the metadata advertises it, unless the entry says otherwise", async () => {
    world.publish(OIDC, SOUND, { authorization_response_iss_parameter_supported: true });
    expect(await world.discovery.resolve(entry())).toHaveProperty("issExpected", true);
    expect(await world.discovery.resolve(entry({ issRequired: false }))).toHaveProperty("issExpected", false);
  });

  it.each([
    [["client_secret_post"], "client_secret_post"],
    [["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [["private_key_jwt"], "client_secret_basic"],
    [undefined, "client_secret_basic"],
  ])("with auth methods %j authenticates by %s", async (supported, method) => {
    world.publish(OIDC, SOUND, { token_endpoint_auth_methods_supported: supported });
    expect(await world.discovery.resolve(entry())).toHaveProperty("tokenEndpointAuthMethod", method);
    expect(await world.discovery.resolve(entry({ tokenEndpointAuthMethod: "none" }))).toHaveProperty(
      "tokenEndpointAuthMethod",
      "none",
    );
  });

  it.each([[["plain"]], [[]]])(
    "rfc9700#4.8.2 bar#VR-2 refuses metadata that offers PKCE only by %j",
    async (methods) => {
      world.publish(OIDC, SOUND, { code_challenge_methods_supported: methods });
      await expect(world.discovery.resolve(entry())).rejects.toMatchObject({
        ...INVALID,
        extras: { reason: "pkce_not_supported" },
      });
      await expect(world.discovery.resolve(entry({ pkce: "none" }))).resolves.toBeDefined();
    },
  );

  it("bar#VR-2 notices when S256 is dropped later", async () => {
    world.publish(OIDC, SOUND, { code_challenge_methods_supported: ["S256"] });
    await world.discovery.resolve(entry());
    world.publish(OIDC, SOUND, { code_challenge_methods_supported: ["plain"] });
    world.clock.advance(600);
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
  });

  it("reports a missing endpoint", async () => {
    world.publish(OIDC, SOUND, { token_endpoint: undefined });
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
    const { issuer: _issuer, ...nameless } = entry({ tokenEndpoint: "https://v.example/t" });
    await expect(world.discovery.resolve(nameless)).rejects.toMatchObject(INVALID);
  });
});

describe("the well-known places", () => {
  it("rfc8414#3 are tried in turn", async () => {
    world.answers.delete(OIDC);
    world.publish(OAUTH, SOUND);
    await world.discovery.resolve(entry());
    expect(world.asked).toEqual([OIDC, OAUTH]);
  });

  it("rfc8414#3 of an issuer with a path are three", async () => {
    const issuer = `${ISSUER}/t/1`;
    await expect(world.discovery.resolve(entry({ issuer }))).rejects.toMatchObject(INVALID);
    expect(world.asked).toEqual([
      "https://v.example/t/1/.well-known/openid-configuration",
      "https://v.example/.well-known/oauth-authorization-server/t/1",
      "https://v.example/.well-known/openid-configuration/t/1",
    ]);
  });

  it("may hold another document, which is skipped", async () => {
    world.answers.set(OIDC, () => new Response("<html>", { headers: { "content-type": "text/html" } }));
    world.publish(OAUTH, SOUND);
    await expect(world.discovery.resolve(entry())).resolves.toHaveProperty("tokenEndpoint", "https://t.example/t");
  });

  it("V-58 bar#EG-6 may redirect, which is not followed", async () => {
    world.answers.set(OIDC, () => new Response("", { status: 302, headers: { location: "http://169.254.169.254/" } }));
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
    expect(world.asked).toEqual([OIDC, OAUTH]);
  });

  it.each([503, 500, 429])("an outage, %i, is not skipped", async (status) => {
    world.answers.set(OIDC, () => new Response("", { status, headers: { "retry-after": "9" } }));
    world.publish(OAUTH, SOUND);
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject({
      code: "temporarily_unavailable",
      retryAfterSeconds: 9,
      extras: {},
    });
  });

  it("bar#EG-9 refused and unreachable look alike", async () => {
    const seen = [];
    for (const kind of ["refused", "connect", "timeout", "broken"] as const) {
      world.answers.set(OIDC, () => Promise.reject(egressError(kind, kind === "broken", "")));
      seen.push(
        await world.discovery
          .resolve(entry())
          .catch(({ code, description, extras, retryAfterSeconds }: Record<string, unknown>) => ({
            code,
            description,
            extras,
            retryAfterSeconds,
          })),
      );
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
  });
});

describe("metadata", () => {
  it.each([
    ["with a slash more", "https://v.example/"],
    ["in another case", "https://V.example"],
    ["with the port spelled out", "https://v.example:443"],
    ["of another host", "https://w.example"],
  ])("V-29 V-53 bar#DI-1 rfc8414#3.3 is refused with an issuer %s", async (_title, issuer) => {
    world.publish(OIDC, SOUND, { issuer });
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject({
      ...INVALID,
      extras: { reason: "issuer_mismatch" },
    });
    world.publish(OAUTH, SOUND, { token_endpoint: "https://right.example/t" });
    await expect(world.discovery.resolve(entry())).resolves.toHaveProperty("tokenEndpoint", "https://right.example/t");
  });

  it.each([7, undefined, null])("bar#DI-1 rfc8414#3.3 is refused with an issuer %j", async (issuer) => {
    world.publish(OIDC, SOUND, { issuer });
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject({
      ...INVALID,
      extras: { reason: "issuer_missing" },
    });
    world.publish(OAUTH, SOUND, { token_endpoint: "https://right.example/t" });
    await expect(world.discovery.resolve(entry())).resolves.toHaveProperty("tokenEndpoint", "https://right.example/t");
  });

  it.each(
    [
      "http://v.example/x",
      "javascript:alert(1)",
      "file:///etc/passwd",
      "https://user:pass@v.example/x",
      "https://127.0.0.1/x",
      "https://169.254.169.254/x",
      "https://v.example:8443/x",
      "https://v.example/x#y",
      "/x",
      7,
    ].flatMap((url) =>
      ["authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint"].map(
        (name) => [name, url] as const,
      ),
    ),
  )("bar#DI-2 is refused with %s %s", async (name, url) => {
    world.publish(OIDC, SOUND, { [name]: url });
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
  });

  it("is refused with a member twice", async () => {
    world.answers.set(
      OIDC,
      () =>
        new Response(JSON.stringify(SOUND).replace("{", '{"issuer":"https://v.example",'), {
          headers: { "content-type": "application/json" },
        }),
    );
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
  });

  it.each(["http://v.example", "https://v.example?x=y", "https://127.0.0.1", "https://v.example/#x", "v.example"])(
    "is not asked for at %s",
    async (issuer) => {
      await expect(world.discovery.resolve(entry({ issuer }))).rejects.toMatchObject(INVALID);
      expect(world.asked).toEqual([]);
    },
  );

  it("is kept for ten minutes, and asked for once however many want it", async () => {
    const one = entry();
    const all = await Promise.all(Array.from({ length: 20 }, () => world.discovery.resolve(one)));
    expect(new Set(all).size).toBe(1);
    world.clock.advance(599);
    expect(await world.discovery.resolve(one)).toBe(all[0]);
    expect(world.asked).toHaveLength(1);
    world.clock.advance(1);
    await world.discovery.resolve(one);
    expect(world.asked).toHaveLength(2);
  });

  it("stands in for an hour when the vendor is down, asked for twice a minute", async () => {
    const one = entry();
    const before = await world.discovery.resolve(one);
    world.answers.set(OIDC, () => Promise.reject(egressError("connect", false, "")));
    world.clock.advance(700);
    expect(await world.discovery.resolve(one)).toBe(before);
    expect(await world.discovery.resolve(one)).toBe(before);
    expect(world.asked).toHaveLength(2);
    world.clock.advance(30);
    expect(await world.discovery.resolve(one)).toBe(before);
    expect(world.asked).toHaveLength(3);
    world.clock.advance(2870);
    await expect(world.discovery.resolve(one)).rejects.toMatchObject({ code: "temporarily_unavailable" });
  });

  it("bar#DI-1 with another issuer is refused every time until it is valid again", async () => {
    await world.discovery.resolve(entry());
    world.publish(OIDC, SOUND, { issuer: "https://w.example" });
    world.clock.advance(700);
    for (let count = 0; count < 4; count += 1) {
      await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
      world.clock.advance(10);
    }
    world.publish(OIDC, SOUND, { token_endpoint: "https://new.example/t" });
    await expect(world.discovery.resolve(entry())).resolves.toHaveProperty("tokenEndpoint", "https://new.example/t");
  });

  it("may name the operator's private networks where the operator permits them", async () => {
    const inside = world.discover({ allowCidrs: ["10.0.0.0/8"] });
    world.publish(OIDC, SOUND, { token_endpoint: "https://10.1.2.3:8443/t" });
    await expect(world.discovery.resolve(entry())).rejects.toMatchObject(INVALID);
    await expect(inside.resolve(entry())).resolves.toHaveProperty("tokenEndpoint", "https://10.1.2.3:8443/t");
  });
});
