import { beforeEach, describe, expect, it } from "vitest";
import { systemTimer } from "../mechanics/system-timer.ts";
import { ACCESS_TOKEN, REFRESH_TOKEN, soundAnswer } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../testing/network/vendor-lab.ts";
import { createDeadline, VENDOR_OPERATION_SECONDS, waitUntil } from "./deadline.ts";
import { createVendorClient } from "./index.ts";

const deadlines: AbortController[] = [];
let isOver = false;
const lab = labOfEachTest({
  timeoutMs: 60_000,
  deadline: () => {
    const controller = new AbortController();
    if (isOver) controller.abort();
    deadlines.push(controller);
    return controller.signal;
  },
});
beforeEach(() => {
  deadlines.splice(0);
  isOver = false;
});

/** Ends the operation that began last. */
const end = (): void => deadlines.at(-1)?.abort();
const RESTART = { code: "temporarily_unavailable", status: 503, extras: { retry: "restart" } };
const UNSPENT = { code: "temporarily_unavailable", extras: {} };

/** The vendor hangs at this path, and the deadline fires as soon as the path is requested. */
const hangAt = (path: string): void => void lab.vendor.answers.set(path, end);

describe("the deadline of an operation", () => {
  it("bar#VR-5 ends a redemption at the token endpoint: the code is gone", async () => {
    hangAt("/token");
    await expect(lab.redeem()).rejects.toMatchObject(RESTART);
    expect(deadlines).toHaveLength(1);
  });

  it("bar#VR-5 that fires before anything is sent spends nothing", async () => {
    isOver = true;
    await expect(lab.redeem()).rejects.toMatchObject(UNSPENT);
    expect(lab.vendor.times("/token")).toBe(0);
  });

  it("bar#JW-4 ends a redemption at the keys: the tokens are revoked", async () => {
    hangAt("/jwks");
    await expect(lab.redeem()).rejects.toMatchObject(RESTART);
    await expect.poll(() => lab.vendor.times("/revoke")).toBe(1);
  });

  it("bar#JW-1 ends the reload for an unknown key: those we have stay", async () => {
    await lab.vendor.grant({ header: { kid: "unknown" } });
    const sound = lab.vendor.answers.get("/jwks");
    lab.vendor.answers.set("/jwks", (response, request) => {
      if (lab.vendor.times("/jwks") === 2) return end();
      return typeof sound === "function" ? sound(response, request) : undefined;
    });
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    expect(lab.vendor.times("/jwks")).toBe(2);
  });

  it("ends a redemption at the discovery of the keys' address", async () => {
    const { issuer } = lab.vendor;
    hangAt("/.well-known/openid-configuration");
    const endpoints = { authorizationEndpoint: `${issuer}/authorize`, tokenEndpoint: `${issuer}/token` };
    await expect(lab.redeem({ entry: { ...endpoints, issRequired: true } })).rejects.toMatchObject(RESTART);
    expect(lab.vendor.times("/token")).toBe(1);
  });

  it("bar#RF-9 ends a refresh: a new flow is required only where the vendor rotates", async () => {
    hangAt("/token");
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: true } })).rejects.toMatchObject(RESTART);
    await expect(lab.refresh({ entry: { rotatesRefreshTokens: false } })).rejects.toMatchObject(UNSPENT);
    expect(lab.vendor.times("/token")).toBe(2);
  });

  it("ends a revocation", async () => {
    hangAt("/revoke");
    const revoked = lab.client.revokeToken(await lab.resolve(), lab.vendor.credentials, { token: ACCESS_TOKEN });
    await expect(revoked).rejects.toMatchObject(UNSPENT);
  });

  it("does not end work that other callers wait for", async () => {
    const sound = lab.vendor.answers.get("/jwks");
    const asked = Promise.withResolvers<() => void>();
    lab.vendor.answers.set("/jwks", (response, request) => {
      asked.resolve(() => (typeof sound === "function" ? void sound(response, request) : undefined));
    });
    const first = lab.redeem();
    const answer = await asked.promise;
    const second = lab.redeem();
    await expect.poll(() => lab.vendor.times("/token")).toBe(2);
    deadlines[0]?.abort();
    await expect(first).rejects.toMatchObject(RESTART);
    answer();
    await expect(second).resolves.toHaveProperty("idToken");
    expect(lab.vendor.times("/jwks")).toBe(1);
  });

  it("is one for the token request and all that follows", async () => {
    const signals = new Map<string, AbortSignal | null | undefined>();
    const watched = createVendorClient({
      timer: systemTimer,
      fetch: (url, init) => {
        signals.set(new URL(url).pathname, init?.signal);
        return fetch(url, init);
      },
      now: lab.clock,
      allowLoopback: true,
    });
    const vendor = await watched.resolve(lab.vendor.entry);
    await watched.redeemCode(vendor, lab.vendor.credentials, lab.request);
    lab.vendor.answers.set("/token", { body: soundAnswer() });
    await watched.refreshTokens(vendor, lab.vendor.credentials, { refreshToken: REFRESH_TOKEN });
    await watched.revokeToken(vendor, lab.vendor.credentials, { token: ACCESS_TOKEN });
    expect([...signals.keys()]).toEqual(["/.well-known/openid-configuration", "/token", "/jwks", "/revoke"]);
    for (const signal of signals.values()) expect(signal).toBeInstanceOf(AbortSignal);
  });
});

describe("createDeadline", () => {
  it("gives no operation more than twenty seconds, and operations of one second the same signal", async () => {
    const second = Promise.withResolvers<void>();
    const slept: number[] = [];
    const limits: number[] = [];
    const deadline = createDeadline({
      ...systemTimer,
      sleep: async (ms) => (slept.push(ms), second.promise),
      timeout: (ms) => (limits.push(ms), new AbortController().signal),
    });
    const first = deadline();
    expect(deadline()).toBe(first);
    expect(slept).toEqual([1_000]);
    second.resolve();
    await new Promise(setImmediate);
    expect(deadline()).not.toBe(first);
    expect(VENDOR_OPERATION_SECONDS).toBe(20);
    expect(limits).toEqual([20_000, 20_000]);
  });
});

it("waitUntil returns a result in time, and none later", async () => {
  const { signal } = new AbortController();
  await expect(waitUntil(signal, Promise.resolve(7))).resolves.toBe(7);
  await expect(waitUntil(signal, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  await expect(waitUntil(AbortSignal.abort(), Promise.resolve(7))).rejects.toMatchObject({
    code: "temporarily_unavailable",
  });
});
