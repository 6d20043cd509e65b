import { OAuthError, Secret } from "@oauth-broker/oauth-core";
import type { ResolvedVendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it, vi } from "vitest";
import { validationWarning, REFUSED_SECONDS, VALIDATION_SECONDS } from "./authenticate.ts";
import { NOW } from "../testing/test-sessions.ts";
import { validatingVendor } from "../testing/vendors/validating-vendor.ts";

const good = (user = "u1") => ({ active: true, user });

describe("the warning of a vendor that cannot be asked", () => {
  const credentials = { id: "e", source: "environment", clientId: "ours", clientSecret: new Secret("s") } as const;
  const warn = (facts: Partial<ResolvedVendor>, ours: VendorCredentials | undefined) =>
    validationWarning({ settings: { credentials: ours }, vendor: async () => facts as ResolvedVendor });

  it("says that the client cannot be checked, or that there is no way at all (#11)", async () => {
    const userinfoEndpoint = "https://vendor.example/userinfo";
    expect(await warn({ userinfoEndpoint }, undefined)).toBeUndefined();
    expect(await warn({ userinfoEndpoint }, credentials)).toContain("unset VENDOR_CLIENT_ID");
    expect(await warn({ introspectionEndpoint: "https://vendor.example/i" }, credentials)).toBeUndefined();
    expect(await warn({}, undefined)).toContain("set VENDOR_USERINFO_URL");
  });

  it("waits until the vendor can be asked", async () => {
    const down = async () => Promise.reject(new OAuthError("temporarily_unavailable", "Down"));
    expect(await validationWarning({ settings: { credentials }, vendor: down })).toBeUndefined();
  });
});

describe("the bearer check of pre-registered mode", () => {
  it.each([
    ["good: again after ten seconds, as the README says", good(), 10, "u1"],
    ["refused: again after a minute", { active: false, reason: "refused" }, REFUSED_SECONDS, undefined],
  ])("asks the vendor once for a burst of calls with a token that is %s", async (_, validation, seconds, user) => {
    const { authenticate, now, asked } = validatingVendor(() => validation);
    const callers = await Promise.all(Array.from({ length: 50 }, () => authenticate("t")));
    expect(new Set(callers.map((caller) => caller?.user))).toEqual(new Set([user]));
    now.advance(seconds - 1);
    await authenticate("t");
    expect(asked).toEqual(["t"]);
    now.advance(1);
    await authenticate("t");
    expect(asked).toEqual(["t", "t"]);
  });

  it("bar#RS-2 accepts no token that the vendor does not confirm", async () => {
    const { authenticate } = validatingVendor(() => ({ active: false, reason: "unknown" }));
    expect(await authenticate("t")).toBeUndefined();
  });

  it("passes the same token on, and cannot refresh it", async () => {
    const { authenticate } = validatingVendor(() => good());
    const caller = await authenticate("t");
    const token = await caller?.vendorToken();
    expect(token?.accessToken.reveal()).toBe("t");
    expect(token === undefined ? "none" : await caller?.refused(token)).toBeUndefined();
  });

  it("accepts no token that the vendor's API refused, although its validation was good", async () => {
    const { authenticate, now, asked } = validatingVendor(() => good());
    const caller = await authenticate("t");
    const token = await caller?.vendorToken();
    if (token !== undefined) await caller?.refused(token);
    expect(await authenticate("t")).toBeUndefined();
    expect(asked).toHaveLength(1);
    now.advance(VALIDATION_SECONDS);
    expect(await authenticate("t")).toBeDefined();
  });

  it("keeps what the vendor's API said over a check that began before it and ends after it", async () => {
    const checks: PromiseWithResolvers<object>[] = [];
    const { authenticate, now, asked } = validatingVendor(() => {
      const check = Promise.withResolvers<object>();
      checks.push(check);
      return check.promise;
    });
    const first = authenticate("t");
    await vi.waitFor(() => expect(checks).toHaveLength(1));
    checks[0]?.resolve(good());
    const caller = await first;
    now.advance(VALIDATION_SECONDS);
    const slow = authenticate("t");
    await vi.waitFor(() => expect(checks).toHaveLength(2));
    const token = await caller?.vendorToken();
    if (token !== undefined) await caller?.refused(token);
    checks[1]?.resolve(good());
    // It was asked for before the refusal; the next request knows better.
    expect(await slow).toBeDefined();
    expect(await authenticate("t")).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it("caches no validation longer than the token lives", async () => {
    const { authenticate, now } = validatingVendor(() => ({ ...good(), expiresAt: NOW + 3 }));
    expect((await authenticate("t"))?.expiresAt).toBe(NOW + 3);
    now.advance(3);
    expect(await authenticate("t")).toBeUndefined();
  });

  it("caches no outage: the next call asks again", async () => {
    let isDown = true;
    const { authenticate, asked } = validatingVendor(() =>
      isDown ? new OAuthError("temporarily_unavailable", "Down") : good(),
    );
    await expect(authenticate("t")).rejects.toMatchObject({ code: "temporarily_unavailable" });
    isDown = false;
    expect(await authenticate("t")).toBeDefined();
    expect(asked).toHaveLength(2);
  });

  it("caches no 403 of the account: the token may be good by the next call", async () => {
    const forbidden = new OAuthError("vendor_response_invalid", "Forbidden", { reason: "account_forbidden" });
    let isForbidden = true;
    const { authenticate } = validatingVendor(() => (isForbidden ? forbidden : good()));
    await expect(authenticate("t")).rejects.toBe(forbidden);
    isForbidden = false;
    expect(await authenticate("t")).toBeDefined();
  });

  it("bar#RS-8 mixes up no users under 2,000 parallel calls of 40 users", async () => {
    const { authenticate } = validatingVendor((token) => good(`user of ${token}`));
    const calls = Array.from({ length: 2_000 }, (_, index) => `t${index % 40}`);
    const users = await Promise.all(calls.map(async (token) => (await authenticate(token))?.user));
    expect(users).toEqual(calls.map((token) => `user of ${token}`));
  });

  it("evicts no valid token for 20,000 refused ones (#11)", async () => {
    const { authenticate, asked } = validatingVendor((token) =>
      token === "good" ? good() : { active: false, reason: "refused" },
    );
    await authenticate("good");
    for (let index = 0; index < 20_000; index += 1) await authenticate(`junk-${index}`);
    expect(await authenticate("good")).toBeDefined();
    expect(asked.filter((token) => token === "good")).toHaveLength(1);
  });

  it("holds a bounded number of validations", async () => {
    const { authenticate, asked } = validatingVendor(() => good());
    for (let index = 0; index < 10_001; index += 1) await authenticate(`t${index}`);
    await authenticate("t10000");
    expect(asked).toHaveLength(10_001);
    await authenticate("t0");
    expect(asked).toHaveLength(10_002);
  });
});
