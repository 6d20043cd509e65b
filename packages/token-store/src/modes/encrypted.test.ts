import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { fixture, KEY, OLDER, withTokens, TOKENS, UNREADABLE } from "../testing/rows/records-fixture.ts";
import { bridge } from "./bridge.ts";
import { encrypted } from "./encrypted.ts";

describe("encrypted", () => {
  it("leaves ciphertext only, and removes a copy that was there", async () => {
    const { records, attributes } = await withTokens(bridge);
    await records(encrypted).replace(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
    const left = await attributes();
    for (const name of [
      "access_token",
      "refresh_token",
      "id_token",
      "token_type",
      "scope",
      "expires_at",
      "updated_at",
    ]) {
      expect(left).not.toHaveProperty(name);
    }
    expect(JSON.stringify(left)).not.toMatch(/at-2|rt-1|id-1/);
  });

  it("bar#TS-7 fails closed on a plaintext-only row, and leaves it as it is", async () => {
    const { records, attributes, older } = fixture();
    await older(OLDER);
    await expect(records(encrypted).read(KEY)).rejects.toEqual(UNREADABLE);
    expect(await attributes()).toEqual(OLDER);
  });

  it("bar#TS-7 uses the ciphertext where both are there, ignores the copy, and counts", async () => {
    const { records, events, older } = await withTokens(bridge);
    await older({ access_token: "planted" });
    expect((await records(encrypted).read(KEY))?.stored.tokens.accessToken.reveal()).toBe("at-1");
    expect(events).toEqual(["copy_ignored"]);
  });
});
