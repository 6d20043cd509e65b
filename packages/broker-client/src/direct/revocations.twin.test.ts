/**
 * A thief of a backend's tokens refreshes while their user disconnects. The vendor has answered the
 * refresh already, so only the client can keep the new tokens from its caller.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { disconnectDuringRefresh, REFRESHED } from "../testing/direct-client.ts";
import * as revocations from "./revocations.ts";

it("bar#RV-4 twin: without the check the thief has tokens that outlive the disconnect", async () => {
  weaken(revocations, () => ({ createRevocations: () => ({ add: () => {}, has: async () => false }) }));
  expect(await disconnectDuringRefresh("revoke")).toMatchObject({ refreshed: REFRESHED, ended: [] });
});
