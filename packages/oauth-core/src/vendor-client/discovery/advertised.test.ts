import { systemTimer } from "../../mechanics/system-timer.ts";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Fetch } from "../../ports.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { defineVendor } from "../../registry/vendor.ts";
import { createDiscovery, type Discovery } from "./discover.ts";
import { egressError } from "../../egress/errors.ts";

const ISSUER = "https://v.example";
const OIDC = `${ISSUER}/.well-known/openid-configuration`;
const SOUND = {
  issuer: ISSUER,
  authorization_endpoint: "https://v.example/a",
  token_endpoint: "https://t.example/t",
  revocation_endpoint: "https://v.example/r",
  jwks_uri: "https://v.example/k",
};
const INVALID = { code: "vendor_response_invalid", status: 502 };

const clock = fixedClock(1_700_000_000);
let answers: Map<string, () => Response | Promise<Response>>;
let asked: string[];
let discovery: Discovery;

const fetch: Fetch = async (input) => {
  const url = input.toString();
  asked.push(url);
  return (answers.get(url) ?? (() => new Response("", { status: 404 })))();
};
const publish = (url: string, document: object, changes: object = {}): void => {
  answers.set(url, () => Response.json({ ...document, ...changes }));
};

beforeEach(() => {
  answers = new Map();
  asked = [];
  discovery = createDiscovery({ fetch, now: clock, timer: systemTimer, allowLoopback: false });
  publish(OIDC, SOUND);
});

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
    publish(OIDC, SOUND, {
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    });
    expect(await discovery.resolve(known)).toEqual({ ...known, issExpected: true });
    expect(await discovery.resolve(known)).toBe(await discovery.resolve(known));
    expect(asked).toEqual([OIDC]);
  });

  it("bar#VR-2 rfc9700#4.8.2 refuses metadata that offers PKCE only by plain", async () => {
    publish(OIDC, SOUND, { code_challenge_methods_supported: ["plain"] });
    await expect(discovery.resolve(known)).rejects.toMatchObject({
      ...INVALID,
      extras: { reason: "pkce_not_supported" },
    });
  });

  it("bar#DI-1 refuses the metadata of another issuer, every time", async () => {
    publish(OIDC, SOUND, { issuer: "https://v.example/" });
    for (let count = 0; count < 2; count += 1) {
      await expect(discovery.resolve(known)).rejects.toMatchObject({
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
    answers.set(OIDC, answer);
    expect(await discovery.resolve(known)).toEqual(silent);
    const { length } = asked;
    clock.advance(59);
    publish(OIDC, SOUND, { authorization_response_iss_parameter_supported: true });
    expect(await discovery.resolve(known)).toEqual(silent);
    expect(asked).toHaveLength(length);
    clock.advance(1);
    expect(await discovery.resolve(known)).toHaveProperty("issExpected", true);
    expect(asked).toHaveLength(length + 1);
  });

  it("waits two seconds for metadata that hangs, and not again within a minute", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    const timedOut = new AbortController();
    timeout.mockImplementation((ms) => (ms === 2_000 ? timedOut.signal : new AbortController().signal));
    answers.set(OIDC, unheard);
    const waiting = [discovery.resolve(known), discovery.resolve(known)];
    timedOut.abort();
    expect(await Promise.all(waiting)).toEqual([silent, silent]);
    clock.advance(59);
    expect(await discovery.resolve(known)).toEqual(silent);
    expect(asked).toEqual([OIDC]);
    timeout.mockRestore();
  });

  it("bar#CB-16 keeps what was advertised while the metadata is unavailable", async () => {
    publish(OIDC, SOUND, { authorization_response_iss_parameter_supported: true });
    const before = await discovery.resolve(known);
    answers.set(OIDC, () => Promise.reject(egressError("connect", false, "")));
    clock.advance(3_599);
    expect(await discovery.resolve(known)).toBe(before);
    clock.advance(1);
    expect(await discovery.resolve(known)).toEqual(silent);
  });
});
