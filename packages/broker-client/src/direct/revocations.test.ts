import { describe, expect, it } from "vitest";
import { disconnectDuringRefresh, REFRESHED } from "../testing/direct-client.ts";

describe("bar#RV-4 a token that is revoked during its refresh", () => {
  it.each(["refresh", "revoke"] as const)("gives no one new tokens, the %s answered first", async (first) => {
    const { refreshed, ended } = await disconnectDuringRefresh(first);
    expect(refreshed).toMatchObject({ outcome: "reauthorize", reason: "invalid_grant" });
    expect(ended).toEqual(["successor"]);
  });

  it("is refreshed as ever when the vendor did not revoke it", async () => {
    expect(await disconnectDuringRefresh("refresh", 503)).toMatchObject({ refreshed: REFRESHED, ended: [] });
  });
});
