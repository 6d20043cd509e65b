/** Endpoints of an MCP server: what its live metadata decides, and when the stored ones are used. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemTimer } from "../../mechanics/system-timer.ts";
import type { Fetch } from "../../ports.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { withOperatorsFields } from "../../registry/operators-vendor.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import { createDeadline } from "../deadline.ts";
import { findRegistration } from "../registration/endpoint.ts";
import { egressError } from "../../egress/errors.ts";
import { createDiscovery, type Discovery } from "./discover.ts";

const ISSUER = "https://auth.v.example";
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;
const OIDC = `${ISSUER}/.well-known/openid-configuration`;
const SERVER = "https://mcp.v.example/v1/mcp";
const RESOURCE = "https://mcp.v.example/.well-known/oauth-protected-resource/v1/mcp";
const ROOT_RESOURCE = "https://mcp.v.example/.well-known/oauth-protected-resource";
const SOUND = {
  issuer: ISSUER,
  authorization_endpoint: "https://auth.v.example/new/a",
  token_endpoint: "https://auth.v.example/new/t",
  revocation_endpoint: "https://auth.v.example/new/r",
  registration_endpoint: "https://auth.v.example/new/reg",
};
const STORED = {
  authorizationEndpoint: "https://auth.v.example/a",
  tokenEndpoint: "https://auth.v.example/t",
  revocationEndpoint: "https://auth.v.example/r",
  registrationEndpoint: "https://auth.v.example/reg",
};
const INVALID = { code: "vendor_response_invalid", status: 502 };
const UNAVAILABLE = { code: "temporarily_unavailable", status: 503 };

const clock = fixedClock(1_700_000_000);
let answers: Map<string, () => Response | Promise<Response>>;
let asked: string[];
let discovery: Discovery;
const onStoredEndpoints = vi.fn<(vendor: Pick<Vendor, "id">) => void>();

const fetch: Fetch = async (input) => {
  const url = input.toString();
  asked.push(url);
  return (answers.get(url) ?? (() => new Response("", { status: 404 })))();
};
const publish = (url: string, document: object, changes: object = {}): void => {
  answers.set(url, () => Response.json({ ...document, ...changes }));
};
const server = (changes: object = {}): void => {
  publish(RESOURCE, { resource: SERVER, authorization_servers: [ISSUER] }, changes);
};
const entry = (endpointsFrom: Vendor["endpointsFrom"], changes: Partial<Vendor> = {}): Vendor =>
  defineVendor({
    id: "v",
    name: "V",
    issuer: ISSUER,
    serverUrl: SERVER,
    ...STORED,
    ...(endpointsFrom === undefined ? {} : { endpointsFrom }),
    ...changes,
  });
const strict = entry("metadata");
const falling = entry("metadata, else stored");

beforeEach(() => {
  answers = new Map();
  asked = [];
  onStoredEndpoints.mockClear();
  discovery = createDiscovery({ fetch, now: clock, timer: systemTimer, allowLoopback: false, onStoredEndpoints });
  publish(OAUTH, SOUND);
  server();
});

describe("the endpoints of an MCP server", () => {
  it.each([strict, falling])("are those of its live metadata, also where the entry has others", async (vendor) => {
    publish(OAUTH, SOUND, { authorization_response_iss_parameter_supported: true });
    const resolved = await discovery.resolve(vendor);
    expect(resolved).toMatchObject({
      authorizationEndpoint: SOUND.authorization_endpoint,
      tokenEndpoint: SOUND.token_endpoint,
      revocationEndpoint: SOUND.revocation_endpoint,
      registrationEndpoint: SOUND.registration_endpoint,
      issExpected: true,
    });
    expect(await discovery.resolve(vendor)).toBe(resolved);
    expect(asked.toSorted()).toEqual([OAUTH, RESOURCE].toSorted());
  });

  it("are not those of the entry where the metadata has none", async () => {
    const { revocation_endpoint: _revocation, registration_endpoint: _registration, ...less } = SOUND;
    publish(OAUTH, less);
    const resolved = await discovery.resolve({ ...strict, userinfoEndpoint: "https://auth.v.example/u" });
    for (const name of ["revocationEndpoint", "registrationEndpoint", "userinfoEndpoint"]) {
      expect(resolved).not.toHaveProperty(name);
    }
    const place = findRegistration(strict, { discovery, deadline: createDeadline(systemTimer), timer: systemTimer });
    await expect(place).rejects.toMatchObject({ extras: { reason: "registration_not_supported" } });
  });

  it("move when the metadata does, after ten minutes", async () => {
    await discovery.resolve(strict);
    publish(OAUTH, SOUND, { token_endpoint: "https://auth.v.example/moved/t" });
    clock.advance(599);
    expect(await discovery.resolve(strict)).toHaveProperty("tokenEndpoint", SOUND.token_endpoint);
    clock.advance(1);
    expect(await discovery.resolve(strict)).toHaveProperty("tokenEndpoint", "https://auth.v.example/moved/t");
  });

  it("are in OpenID Connect's document where there is no other", async () => {
    answers.delete(OAUTH);
    publish(OIDC, SOUND);
    expect(await discovery.resolve(strict)).toHaveProperty("tokenEndpoint", SOUND.token_endpoint);
  });

  it("bar#VR-2 are refused where the metadata does not offer the entry's PKCE", async () => {
    publish(OAUTH, SOUND, { code_challenge_methods_supported: ["plain"] });
    await expect(discovery.resolve(falling)).rejects.toMatchObject({ extras: { reason: "pkce_not_supported" } });
  });

  it("are where clients register, with the methods that the metadata lists", async () => {
    publish(OAUTH, SOUND, { token_endpoint_auth_methods_supported: ["none"] });
    const place = await findRegistration(falling, {
      discovery,
      deadline: createDeadline(systemTimer),
      timer: systemTimer,
    });
    expect(place).toEqual({ endpoint: SOUND.registration_endpoint, authMethods: ["none"] });
    answers.clear();
    clock.advance(3_600);
    expect(
      await findRegistration(falling, { discovery, deadline: createDeadline(systemTimer), timer: systemTimer }),
    ).toEqual({
      endpoint: STORED.registrationEndpoint,
    });
  });
});

describe("an endpoint that an operator names", () => {
  it("takes precedence over the metadata, which decides the others", async () => {
    publish(OAUTH, SOUND, { userinfo_endpoint: "https://auth.v.example/live/u" });
    const own = { userinfoEndpoint: "https://gateway.example/u" };
    expect(await discovery.resolve(withOperatorsFields(strict, own).vendor)).toMatchObject({
      ...own,
      tokenEndpoint: SOUND.token_endpoint,
      revocationEndpoint: SOUND.revocation_endpoint,
    });
  });

  it("is the whole pair's end where it is one of a flow", async () => {
    const own = { tokenEndpoint: "https://gateway.v.example/t" };
    expect(await discovery.resolve(withOperatorsFields(strict, own).vendor)).toMatchObject({ ...STORED, ...own });
    expect(asked).not.toContain(RESOURCE);
  });
});

describe("metadata that cannot be reached", () => {
  const OUTAGES: [string, () => Response | Promise<Response>][] = [
    ["is not there", () => new Response("", { status: 404 })],
    ["is behind a wall", () => new Response("<html>", { status: 403, headers: { "content-type": "text/html" } })],
    ["is down", () => new Response("", { status: 503 })],
    ["has no connection", () => Promise.reject(egressError("connect", false, ""))],
  ];

  it.each(OUTAGES)("leads to the stored endpoints where the entry says so: it %s", async (_, answer) => {
    answers.set(OAUTH, answer);
    const { endpointsFrom: _from, serverUrl: _server, ...stored } = falling;
    expect(await discovery.resolve(falling)).toEqual({ ...stored, issExpected: false });
    expect(await discovery.live(falling as never)).toBeUndefined();
  });

  it.each(OUTAGES)("bar#DI-1 is a clear refusal of any other entry: it %s", async (_, answer) => {
    answers.set(OAUTH, answer);
    await expect(discovery.resolve(strict)).rejects.toMatchObject(UNAVAILABLE);
    expect(onStoredEndpoints).not.toHaveBeenCalled();
  });

  it("is asked for again after a minute, and reported once in ten", async () => {
    answers.set(OAUTH, () => new Response("", { status: 503 }));
    await discovery.resolve(falling);
    const { length } = asked;
    clock.advance(59);
    await discovery.resolve(falling);
    expect(asked).toHaveLength(length);
    clock.advance(1);
    await discovery.resolve(falling);
    expect(asked.length).toBeGreaterThan(length);
    expect(onStoredEndpoints.mock.calls).toEqual([[falling]]);
    clock.advance(540);
    await discovery.resolve(falling);
    expect(onStoredEndpoints).toHaveBeenCalledTimes(2);
    publish(OAUTH, SOUND);
    clock.advance(60);
    expect(await discovery.resolve(falling)).toHaveProperty("tokenEndpoint", SOUND.token_endpoint);
  });

  it("is the one that was read last for an hour, for any entry", async () => {
    const before = await discovery.resolve(strict);
    answers.set(OAUTH, () => new Response("", { status: 503 }));
    clock.advance(3_599);
    expect(await discovery.resolve(strict)).toBe(before);
    clock.advance(1);
    await expect(discovery.resolve(strict)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("metadata that was reached and is wrong", () => {
  it.each<[string, object, string | undefined]>([
    ["another issuer", { issuer: `${ISSUER}/` }, "issuer_mismatch"],
    ["no issuer", { issuer: undefined }, "issuer_missing"],
    ["no token endpoint", { token_endpoint: undefined }, undefined],
    ["a token endpoint that is not https", { token_endpoint: "http://auth.v.example/t" }, "endpoint_forbidden"],
    ["an authorization endpoint that is not text", { authorization_endpoint: 1 }, undefined],
    [
      "a token endpoint elsewhere",
      { token_endpoint: "https://v.example.evil.example/t" },
      "credential_binding_mismatch",
    ],
    [
      "an authorization page elsewhere",
      { authorization_endpoint: "https://evil.example/a" },
      "credential_binding_mismatch",
    ],
  ])("bar#DI-1 bar#BY-4 never leads to the stored endpoints: %s", async (_, changes, reason) => {
    publish(OAUTH, SOUND, changes);
    for (const vendor of [falling, strict]) {
      const extras = reason === undefined ? {} : { reason };
      await expect(discovery.resolve(vendor)).rejects.toMatchObject({ ...INVALID, extras });
    }
    expect(onStoredEndpoints).not.toHaveBeenCalled();
  });

  it.each<[string, () => Response]>([
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["no JSON", () => new Response("{")],
    ["a redirect", () => new Response("", { status: 302, headers: { location: "https://evil.example/" } })],
    ["an empty answer", () => new Response(null, { status: 204 })],
  ])("bar#DI-1 never leads to the stored endpoints: %s", async (_, answer) => {
    answers.set(OAUTH, answer);
    await expect(discovery.resolve(falling)).rejects.toMatchObject(INVALID);
  });

  it("bar#BY-4 names the field that is at a host of another party", async () => {
    publish(OAUTH, SOUND, { token_endpoint: "https://evil.example/t" });
    await expect(discovery.resolve(strict)).rejects.toThrow("token_endpoint");
  });
});

describe("hosts that live metadata may name", () => {
  it("bar#BY-4 are below the issuer's registrable domain, or in the entry", async () => {
    publish(OAUTH, SOUND, {
      authorization_endpoint: "https://login.v.example/a",
      token_endpoint: "https://v-tokens.example/new/t",
    });
    const vendor = { ...strict, tokenEndpoint: "https://v-tokens.example/t" };
    expect(await discovery.resolve(vendor)).toHaveProperty("tokenEndpoint", "https://v-tokens.example/new/t");
    // The entry names the host, not its domain.
    publish(OAUTH, SOUND, { token_endpoint: "https://other.v-tokens.example/t" });
    clock.advance(600);
    await expect(discovery.resolve(vendor)).rejects.toMatchObject(INVALID);
  });

  it("bar#BY-4 leave out a further endpoint elsewhere, but not the keys", async () => {
    const elsewhere = "https://evil.example/x";
    publish(OAUTH, SOUND, {
      revocation_endpoint: elsewhere,
      registration_endpoint: elsewhere,
      userinfo_endpoint: elsewhere,
      introspection_endpoint: elsewhere,
      jwks_uri: elsewhere,
    });
    const resolved = await discovery.resolve(strict);
    expect(resolved.jwksUri).toBe(elsewhere);
    expect(JSON.stringify({ ...resolved, jwksUri: "" })).not.toContain("evil");
    const place = findRegistration(strict, { discovery, deadline: createDeadline(systemTimer), timer: systemTimer });
    await expect(place).rejects.toMatchObject({ extras: { reason: "registration_not_supported" } });
  });
});

describe("the server's own document", () => {
  const OTHERS = { authorization_servers: ["https://other.v.example"] };

  it("bar#DI-1 rfc9728#3.3 that names another issuer is refused, even if the pinned is down", async () => {
    server(OTHERS);
    for (const vendor of [strict, falling]) {
      await expect(discovery.resolve(vendor)).rejects.toMatchObject({
        ...INVALID,
        description: expect.stringContaining("authorization_servers"),
        extras: { reason: "issuer_mismatch" },
      });
    }
    answers.set(OAUTH, () => new Response("", { status: 503 }));
    await expect(discovery.resolve(falling)).rejects.toMatchObject(INVALID);
    expect(onStoredEndpoints).not.toHaveBeenCalled();
  });

  it.each<[string, object]>([
    ["names the issuer among others", { authorization_servers: ["https://other.v.example", ISSUER] }],
    ["names it with a slash at the end", { authorization_servers: [`${ISSUER}/`] }],
    ["names none", { authorization_servers: [] }],
    ["is the whole origin's", { resource: "https://mcp.v.example" }],
    ["rfc9728#3.3 is of another server, and is not used", { ...OTHERS, resource: "https://mcp.w.example/v1/mcp" }],
    ["rfc9728#3.3 is of a sibling, and is not used", { ...OTHERS, resource: "https://mcp.v.example/v1/mcp2" }],
    ["rfc9728#3.3 says not of what it is, and is not used", { ...OTHERS, resource: undefined }],
  ])("changes nothing where it %s", async (_, changes) => {
    server(changes);
    expect(await discovery.resolve(strict)).toHaveProperty("tokenEndpoint", SOUND.token_endpoint);
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ["is down", () => new Response("", { status: 503 })],
    ["wants a token", () => new Response("", { status: 401 })],
    ["cannot be reached", () => Promise.reject(egressError("connect", false, ""))],
    ["is a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ])("may be missing, since the entry pins the issuer: it %s", async (_, answer) => {
    answers.set(RESOURCE, answer);
    expect(await discovery.resolve(strict)).toHaveProperty("tokenEndpoint", SOUND.token_endpoint);
    expect(asked).toContain(ROOT_RESOURCE);
  });

  it("is looked for at the root too", async () => {
    answers.delete(RESOURCE);
    publish(ROOT_RESOURCE, { resource: "https://mcp.v.example/", ...OTHERS });
    await expect(discovery.resolve(strict)).rejects.toMatchObject(INVALID);
  });
});

it("an entry that is not of the MCP server keeps its endpoints, whatever its metadata says", async () => {
  const { serverUrl: _server, ...api } = entry(undefined);
  const resolved = await discovery.resolve(api);
  expect(resolved).toMatchObject(STORED);
  expect(asked).not.toContain(RESOURCE);
});
