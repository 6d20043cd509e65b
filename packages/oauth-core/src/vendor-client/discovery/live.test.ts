/** The endpoints of an MCP server: its live metadata has to have the same ones as its entry. */
import { beforeEach, describe, expect, it } from "vitest";
import { systemTimer } from "../../mechanics/system-timer.ts";
import { withOperatorsFields } from "../../registry/operators-vendor.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import { metadataOfEachTest } from "../../testing/network/metadata-world.ts";
import { egressError } from "../../egress/errors.ts";
import { createDeadline } from "../deadline.ts";
import { findRegistration } from "../registration/endpoint.ts";

const ISSUER = "https://auth.v.example";
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;
const SERVER = "https://mcp.v.example/mcp";
const ROOT_RESOURCE = "https://mcp.v.example/.well-known/oauth-protected-resource";
const RESOURCE = `${ROOT_RESOURCE}/mcp`;
const STORED = {
  authorizationEndpoint: `${ISSUER}/a`,
  tokenEndpoint: `${ISSUER}/t`,
  revocationEndpoint: `${ISSUER}/r`,
  registrationEndpoint: `${ISSUER}/reg`,
};
const stored = defineVendor({ id: "v", name: "V", issuer: ISSUER, serverUrl: SERVER, ...STORED });
const SAME = {
  authorization_endpoint: STORED.authorizationEndpoint,
  token_endpoint: STORED.tokenEndpoint,
  revocation_endpoint: STORED.revocationEndpoint,
  registration_endpoint: STORED.registrationEndpoint,
};
const MOVED = `${ISSUER}/moved`;
const MISMATCH = { code: "vendor_response_invalid", status: 502, extras: { reason: "endpoint_mismatch" } };

const world = metadataOfEachTest();
const publish = (changes: object = {}): void => world.publish(OAUTH, { issuer: ISSUER, ...SAME, ...changes });
const server = (changes: object = {}, address = RESOURCE): void =>
  world.publish(address, { resource: SERVER, authorization_servers: [ISSUER], ...changes });
const OTHERS = { authorization_servers: ["https://other.v.example"] };

const placeOf = (vendor: Vendor) =>
  findRegistration(vendor, { ...world, timer: systemTimer, deadline: createDeadline(systemTimer) });
beforeEach(() => {
  publish();
  server();
});

describe("the stored endpoints of an MCP server", () => {
  it("are used where live metadata has the same ones, asked once in ten minutes", async () => {
    const resolved = await world.discovery.resolve(stored);
    expect(resolved).toMatchObject({ ...STORED, issExpected: false });
    world.clock.advance(599);
    expect(await world.discovery.resolve(stored)).toBe(resolved);
    expect(world.asked.toSorted()).toEqual([OAUTH, RESOURCE].toSorted());
    publish({ token_endpoint: MOVED });
    expect(await world.discovery.resolve(stored)).toBe(resolved);
    world.clock.advance(1);
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject(MISMATCH);
  });

  it.each(Object.keys(SAME))("bar#BY-4 are used no more when live metadata has another %s", async (name) => {
    publish({ [name]: MOVED });
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject({
      ...MISMATCH,
      description: expect.stringContaining(name),
      detail: expect.stringContaining(`vendors.v.${name}`),
    });
    const place = placeOf(stored);
    await expect(place).rejects.toMatchObject(MISMATCH);
  });

  it("bar#DI-1 are used no more when the metadata has one that we would never request", async () => {
    publish({ token_endpoint: "http://auth.v.example/t" });
    const forbidden = { ...MISMATCH, extras: { reason: "endpoint_forbidden" } };
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject(forbidden);
  });

  it("bar#VR-2 are used no more when the metadata does not offer the entry's PKCE", async () => {
    publish({ code_challenge_methods_supported: ["plain"] });
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject({ extras: { reason: "pkce_not_supported" } });
  });

  it("are compared with OpenID Connect's document where there is no other", async () => {
    world.answers.delete(OAUTH);
    world.answers.set(`${ISSUER}/.well-known/openid-configuration`, () =>
      Response.json({ issuer: ISSUER, ...SAME, token_endpoint: MOVED }),
    );
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject(MISMATCH);
  });

  it("bar#BY-4 are compared where the entry says about iss itself, too", async () => {
    publish({ token_endpoint: MOVED });
    await expect(world.discovery.resolve({ ...stored, issRequired: false })).rejects.toMatchObject(MISMATCH);
  });

  it("bar#DI-1 are used no more when the server or the document names another issuer", async () => {
    server(OTHERS);
    const moved = { ...MISMATCH, extras: { reason: "issuer_mismatch" } };
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject(moved);
    // The issuer's outage does not hide that the server has left it.
    world.answers.set(OAUTH, () => new Response("", { status: 503 }));
    await expect(world.discover().resolve(stored)).rejects.toMatchObject(moved);
    server();
    publish({ issuer: "https://other.v.example" });
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject(moved);
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ["is down", () => new Response("", { status: 503 })],
    ["cannot be reached", () => Promise.reject(egressError("connect", false, ""))],
    ["has none", () => new Response("", { status: 404 })],
    ["has a page there", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ])("have nothing to be compared with where the issuer %s", async (_, answer) => {
    world.answers.set(OAUTH, answer);
    expect(await world.discovery.resolve(stored)).toMatchObject(STORED);
  });

  it("give way to an operator's, which are compared with nothing", async () => {
    const token = { tokenEndpoint: "https://gateway.example/t" };
    expect(await world.discovery.resolve(withOperatorsFields(stored, token).vendor)).toMatchObject(token);
    publish({ userinfo_endpoint: MOVED });
    const userinfo = { userinfoEndpoint: "https://gateway.example/u" };
    expect(await world.discovery.resolve(withOperatorsFields(stored, userinfo).vendor)).toMatchObject(userinfo);
  });

  it("are templates until a flow fills them", async () => {
    publish({ token_endpoint: "https://auth.v.example/v2/t" });
    const template = { ...stored, tokenEndpoint: "https://auth.v.example/{version}/t" };
    expect(await placeOf(template)).toEqual({
      endpoint: STORED.registrationEndpoint,
    });
    const filled = { ...stored, tokenEndpoint: "https://auth.v.example/v3/t" };
    await expect(world.discovery.resolve(filled)).rejects.toMatchObject(MISMATCH);
  });
});

describe("the server's own document", () => {
  it.each<[string, object]>([
    ["names the issuer among others", { authorization_servers: ["https://other.v.example", ISSUER] }],
    ["names it with a slash at the end", { authorization_servers: [`${ISSUER}/`] }],
    ["names none", { authorization_servers: [] }],
    ["is the whole origin's", { resource: "https://mcp.v.example" }],
    ["rfc9728#3.3 is of another server, and is not used", { ...OTHERS, resource: "https://mcp.w.example/mcp" }],
    ["rfc9728#3.3 is of a sibling, and is not used", { ...OTHERS, resource: "https://mcp.v.example/mcp2" }],
    ["rfc9728#3.3 says not of what it is, and is not used", { ...OTHERS, resource: undefined }],
  ])("changes nothing where it %s", async (_, changes) => {
    server(changes);
    expect(await world.discovery.resolve(stored)).toMatchObject(STORED);
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ["is down", () => new Response("", { status: 503 })],
    ["wants a token", () => new Response("", { status: 401 })],
    ["cannot be reached", () => Promise.reject(egressError("connect", false, ""))],
    ["is a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ])("may be missing, since the entry pins the issuer: it %s", async (_, answer) => {
    world.answers.set(RESOURCE, answer);
    expect(await world.discovery.resolve(stored)).toMatchObject(STORED);
    expect(world.asked).toContain(ROOT_RESOURCE);
  });

  it("bar#DI-1 is looked for at the root too", async () => {
    world.answers.delete(RESOURCE);
    server({ resource: "https://mcp.v.example/", ...OTHERS }, ROOT_RESOURCE);
    await expect(world.discovery.resolve(stored)).rejects.toMatchObject({ extras: { reason: "issuer_mismatch" } });
  });
});

it("an entry that is not of an MCP server keeps its endpoints, whatever its metadata says", async () => {
  const { serverUrl: _server, ...api } = stored;
  publish({ token_endpoint: MOVED });
  expect(await world.discovery.resolve(api)).toMatchObject(STORED);
  expect(world.asked).not.toContain(RESOURCE);
});
