/** The twin of table-writer.test.ts: over records without a MAC, the attacks succeed. */
import { createHash } from "node:crypto";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it } from "vitest";
import * as recordsOfBroker from "../keys/broker-records.ts";
import { flowIdOf } from "../testing/test-broker.ts";
import { writtenStore } from "../testing/written-store.ts";

beforeEach(() => weaken(recordsOfBroker, () => ({ brokerRecords: ({ records }) => records })));

it("a flow that was made to need no cookie comes back in any browser (twin of bar#TS-3)", async () => {
  const { broker, write } = await writtenStore();
  const { state, cookie } = await broker.start();
  write(flowIdOf(cookie), { binding: "platform" });
  const { location } = await broker.callback({ state, code: "of the victim" });
  expect((await broker.redeem(location?.searchParams.get("code") ?? "")).response.status).toBe(200);
});

it("a parked code is redeemed by whoever replaced its challenge (twin of bar#TS-3)", async () => {
  const { broker, write } = await writtenStore();
  const code = await broker.park();
  const verifier = "a".repeat(43);
  const codeChallenge = createHash("sha256").update(verifier).digest("base64url");
  write(/^(.+)\.[^.]*$/.exec(code)?.[1] ?? "", { codeChallenge });
  expect((await broker.redeem(code, { code_verifier: verifier })).response.status).toBe(200);
});
