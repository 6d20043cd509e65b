/** Stored endpoints of an MCP server whose entry decides: live metadata has to have the same ones. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemTimer } from "../../mechanics/system-timer.ts";
import type { Fetch } from "../../ports.ts";
import { withOperatorsFields } from "../../registry/operators-vendor.ts";
import { defineVendor, type Vendor } from "../../registry/vendor.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { createDeadline } from "../deadline.ts";
import { findRegistration } from "../registration/endpoint.ts";
import { createDiscovery, type Discovery } from "./discover.ts";

const ISSUER = "https://auth.v.example";
const OAUTH = `${ISSUER}/.well-known/oauth-authorization-server`;
const SERVER = "https://mcp.v.example/mcp";
const RESOURCE = "https://mcp.v.example/.well-known/oauth-protected-resource/mcp";
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

const clock = fixedClock(1_700_000_000);
let answers: Map<string, () => Response>;
let asked: string[];
let discovery: Discovery;
const onStoredEndpoints = vi.fn<(vendor: Pick<Vendor, "id">) => void>();

const fetch: Fetch = async (input) => {
  const url = input.toString();
  asked.push(url);
  return (answers.get(url) ?? (() => new Response("", { status: 404 })))();
};
const publish = (changes: object = {}): void => {
  answers.set(OAUTH, () => Response.json({ issuer: ISSUER, ...SAME, ...changes }));
};
const server = (issuer = ISSUER): void => {
  answers.set(RESOURCE, () => Response.json({ resource: SERVER, authorization_servers: [issuer] }));
};

beforeEach(() => {
  answers = new Map();
  asked = [];
  onStoredEndpoints.mockClear();
  discovery = createDiscovery({ fetch, now: clock, timer: systemTimer, allowLoopback: false, onStoredEndpoints });
  publish();
  server();
});

describe("the stored endpoints of an MCP server", () => {
  it("are used where live metadata has the same ones, asked once in ten minutes", async () => {
    const resolved = await discovery.resolve(stored);
    expect(resolved).toMatchObject({ ...STORED, issExpected: false });
    clock.advance(599);
    expect(await discovery.resolve(stored)).toBe(resolved);
    expect(asked.toSorted()).toEqual([OAUTH, RESOURCE].toSorted());
    publish({ token_endpoint: MOVED });
    expect(await discovery.resolve(stored)).toBe(resolved);
    clock.advance(1);
    await expect(discovery.resolve(stored)).rejects.toMatchObject(MISMATCH);
  });

  it.each(Object.keys(SAME))("bar#BY-4 are used no more when live metadata has another %s", async (name) => {
    publish({ [name]: MOVED });
    await expect(discovery.resolve(stored)).rejects.toMatchObject({
      ...MISMATCH,
      description: expect.stringContaining(name),
      detail: expect.stringContaining(`vendors.v.${name}`),
    });
    const place = findRegistration(stored, { discovery, timer: systemTimer, deadline: createDeadline(systemTimer) });
    await expect(place).rejects.toMatchObject(MISMATCH);
  });

  it("bar#BY-4 are compared where the entry says about iss itself, too", async () => {
    publish({ token_endpoint: MOVED });
    await expect(discovery.resolve({ ...stored, issRequired: false })).rejects.toMatchObject(MISMATCH);
  });

  it("bar#DI-1 are used no more when the server or the document names another issuer", async () => {
    server("https://other.v.example");
    const moved = { ...MISMATCH, extras: { reason: "issuer_mismatch" } };
    await expect(discovery.resolve(stored)).rejects.toMatchObject(moved);
    server();
    publish({ issuer: "https://other.v.example" });
    await expect(discovery.resolve(stored)).rejects.toMatchObject(moved);
  });

  it.each<[string, () => Response]>([
    ["is down", () => new Response("", { status: 503 })],
    ["has none", () => new Response("", { status: 404 })],
    ["has a page there", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
  ])("have nothing to be compared with where the issuer %s", async (_, answer) => {
    answers.set(OAUTH, answer);
    expect(await discovery.resolve(stored)).toMatchObject(STORED);
    expect(onStoredEndpoints).not.toHaveBeenCalled();
  });

  it("give way to an operator's, which are compared with nothing", async () => {
    const token = { tokenEndpoint: "https://gateway.example/t" };
    expect(await discovery.resolve(withOperatorsFields(stored, token).vendor)).toMatchObject(token);
    publish({ userinfo_endpoint: MOVED });
    const userinfo = { userinfoEndpoint: "https://gateway.example/u" };
    expect(await discovery.resolve(withOperatorsFields(stored, userinfo).vendor)).toMatchObject(userinfo);
  });

  it("are templates until a flow fills them", async () => {
    publish({ token_endpoint: "https://auth.v.example/v2/t" });
    const template = { ...stored, tokenEndpoint: "https://auth.v.example/{version}/t" };
    expect(
      await findRegistration(template, { discovery, timer: systemTimer, deadline: createDeadline(systemTimer) }),
    ).toEqual({
      endpoint: STORED.registrationEndpoint,
    });
    const filled = { ...stored, tokenEndpoint: "https://auth.v.example/v3/t" };
    await expect(discovery.resolve(filled)).rejects.toMatchObject(MISMATCH);
  });
});
