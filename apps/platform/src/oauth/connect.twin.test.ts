/**
 * Twin of connect.test.ts: a session that owns another session's flow, which the check of the owner
 * rules out, finishes it and keeps the tokens.
 */
import { expect, it } from "vitest";
import { FIRST, openVendorConnect, SECOND } from "../testing/vendor-connect.ts";
import { finishConnect } from "./connect.ts";

it("without the owner, any user with the callback URL finishes the flow", async () => {
  const platform = await openVendorConnect();
  const connector = await platform.newConnector();
  const victim = { ...SECOND, sessionId: FIRST.sessionId };
  await finishConnect(await platform.goToVendor(connector), victim, platform);
  expect(await platform.statusOf(connector, victim)).toMatchObject({ state: "connected" });
  await platform.close();
});
