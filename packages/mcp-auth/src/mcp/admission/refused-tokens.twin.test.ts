/**
 * The twins of refused-tokens.test.ts and of ../../pre-registered/authenticate.test.ts: with one defence off,
 * the attack succeeds.
 */
import * as core from "@oauth-broker/oauth-core";
import * as service from "@oauth-broker/service/http";
import { fixedClock, weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openRefusingVendor } from "../../testing/vendors/refusing-vendor.ts";
import { validatingVendor } from "../../testing/vendors/validating-vendor.ts";

describe("with a defence off", () => {
  it("every token that is tried out is a call at the vendor (twin of bar#ST-8)", async () => {
    weaken(service, ({ createRateLimit }) => ({ createRateLimit: (_, now) => createRateLimit(0, now) }));
    const { present, asked, close } = await openRefusingVendor();
    for (let index = 0; index < 150; index += 1) expect(await present(`junk-${index}`)).toBe(401);
    expect(asked()).toBe(150);
    await close();
  });

  it("tokens that are tried out evict the result of a valid one, where both are in one map", async () => {
    const one = core.createExpiringMap<never>(10_000, fixedClock(1_700_000_000));
    weaken(core, () => ({ createExpiringMap: () => one }));
    const { authenticate, asked } = validatingVendor((token) =>
      token === "good" ? { active: true, user: "u1" } : { active: false, reason: "refused" },
    );
    await authenticate("good");
    for (let index = 0; index < 10_000; index += 1) await authenticate(`junk-${index}`);
    await authenticate("good");
    expect(asked.filter((token) => token === "good")).toHaveLength(2);
  });
});
