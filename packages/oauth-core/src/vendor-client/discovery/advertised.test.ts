import { beforeEach, describe, expect, it, vi } from "vitest";
import { ISSUER, metadataOfEachTest, OIDC, SOUND } from "../../testing/network/metadata-world.ts";
import { defineVendor } from "../../registry/vendor.ts";
import { egressError } from "../../egress/errors.ts";

const INVALID = { code: "vendor_response_invalid", status: 502 };

const world = metadataOfEachTest();

beforeEach(() => world.publish(OIDC, SOUND));

describe("resolve, of an entry with both endpoints and an issuer", () => {
  const known = defineVendor({
    id: "v",
    name: "V",
    issuer: ISSUER,
    authorizationEndpoint: "https://x.example/a",
    tokenEndpoint: "https://x.example/t",
  });
  const silent = { ...known, issExpected: false };
  const unheard = (): Promise<Response> => new Promise(() => {});

  it("bar#CB-16 rfc9207#2.4 expects iss if the metadata advertises it", async () => {
    world.publish(OIDC, SOUND, {
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    });
    expect(await world.discovery.resolve(known)).toEqual({ ...known, issExpected: true });
    expect(await world.discovery.resolve(known)).toBe(await world.discovery.resolve(known));
    expect(world.asked).toEqual([OIDC]);
  });

  it("bar#VR-2 rfc9700#4.8.2 refuses metadata that offers PKCE only by plain", async () => {
    world.publish(OIDC, SOUND, { code_challenge_methods_supported: ["plain"] });
    await expect(world.discovery.resolve(known)).rejects.toMatchObject({
      ...INVALID,
      extras: { reason: "pkce_not_supported" },
    });
  });

  it("bar#DI-1 refuses the metadata of another issuer, every time", async () => {
    world.publish(OIDC, SOUND, { issuer: "https://v.example/" });
    for (let count = 0; count < 2; count += 1) {
      await expect(world.discovery.resolve(known)).rejects.toMatchObject({
        ...INVALID,
        extras: { reason: "issuer_mismatch" },
      });
    }
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ["is not there", () => new Response("", { status: 404 })],
    ["is down", () => new Response("", { status: 503 })],
    ["cannot be reached", () => Promise.reject(egressError("connect", false, ""))],
    ["is a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["answers everything with a token", () => Response.json({ access_token: "a" })],
    ["is not acceptable", () => Response.json({ ...SOUND, jwks_uri: "http://127.0.0.1/k" })],
  ])("goes on with the entry for a minute when the metadata %s", async (_title, answer) => {
    world.answers.set(OIDC, answer);
    expect(await world.discovery.resolve(known)).toEqual(silent);
    const { length } = world.asked;
    world.clock.advance(59);
    world.publish(OIDC, SOUND, { authorization_response_iss_parameter_supported: true });
    expect(await world.discovery.resolve(known)).toEqual(silent);
    expect(world.asked).toHaveLength(length);
    world.clock.advance(1);
    expect(await world.discovery.resolve(known)).toHaveProperty("issExpected", true);
    expect(world.asked).toHaveLength(length + 1);
  });

  it("waits two seconds for metadata that hangs, and not again within a minute", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    const timedOut = new AbortController();
    timeout.mockImplementation((ms) => (ms === 2_000 ? timedOut.signal : new AbortController().signal));
    world.answers.set(OIDC, unheard);
    const waiting = [world.discovery.resolve(known), world.discovery.resolve(known)];
    timedOut.abort();
    expect(await Promise.all(waiting)).toEqual([silent, silent]);
    world.clock.advance(59);
    expect(await world.discovery.resolve(known)).toEqual(silent);
    expect(world.asked).toEqual([OIDC]);
    timeout.mockRestore();
  });

  it("bar#CB-16 keeps what was advertised while the metadata is unavailable", async () => {
    world.publish(OIDC, SOUND, { authorization_response_iss_parameter_supported: true });
    const before = await world.discovery.resolve(known);
    world.answers.set(OIDC, () => Promise.reject(egressError("connect", false, "")));
    world.clock.advance(3_599);
    expect(await world.discovery.resolve(known)).toBe(before);
    world.clock.advance(1);
    expect(await world.discovery.resolve(known)).toEqual(silent);
  });
});
