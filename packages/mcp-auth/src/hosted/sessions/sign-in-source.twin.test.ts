/**
 * The twin of sign-in-source.test.ts: without MACs a table writer makes a server serve over the
 * sessions of another sign-in vendor.
 */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { AUDIENCE, NOW, SOURCE } from "../../testing/test-sessions.ts";
import { claimSignIn } from "./sign-in-source.ts";

it("a table writer says whose users the sessions are of, and the start goes on", async () => {
  const records = memoryRecordStore({ now: fixedClock(NOW) });
  const other = { vendor: "other", issuer: "https://other.example" };
  const options = { adopt: false };
  await claimSignIn({ records, audience: AUDIENCE, source: SOURCE }, options);
  const key = { kind: "sign-in-source", id: hashOf(AUDIENCE) };
  await records.advance(key, { stage: "kept", expect: { vendor: SOURCE.vendor } }, { stage: "kept", set: other });
  expect(await claimSignIn({ records, audience: AUDIENCE, source: other }, options)).toBeUndefined();
});
