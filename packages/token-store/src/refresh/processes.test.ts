/** Two processes that refresh on one DynamoDB table, and the end of one by SIGKILL. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@oauth-broker/oauth-core";
import { type RefreshVendor, startRefreshVendor } from "@oauth-broker/simulators/refresh-models";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dynamoEngine } from "../testing/aws/dynamo-engine.ts";
import { orderAll, startProcesses, stopProcess } from "../testing/processes.ts";
import {
  keyOf,
  LEASE_SECONDS,
  type RefreshAnswers,
  refreshingStore,
  type RefreshSettings,
  tokensOf,
} from "../testing/refresh/refreshing-process.ts";
import type { TokenStore } from "../token-store.ts";

const USERS = ["u1", "u2", "u3", "u4"];
const CALLERS = 20;

const folder = mkdtempSync(join(tmpdir(), "refresh-"));
const dynamo = dynamoEngine();
let vendor: RefreshVendor;
let settings: RefreshSettings;
let store: TokenStore;
let children: ChildProcess[] = [];
beforeAll(async () => {
  vendor = await startRefreshVendor({ model: "grace", graceSeconds: 3600 });
  settings = { ...(await dynamo.newTable()), keyFile: join(folder, "key"), vendor };
  ({ store } = refreshingStore(settings));
  // The first write makes the key file, which the processes read.
  for (const user of USERS) await store.put(keyOf(user), expired(user));
  children = await startProcesses("./refresh/refreshing-process.ts", [JSON.stringify(settings)], 2);
});
afterAll(async () => {
  await Promise.all(children.map((child) => stopProcess(child)));
  await Promise.all([store.close(), vendor.close()]);
  rmSync(folder, { recursive: true });
});

function expired(user: string): ReturnType<typeof tokensOf> {
  const { accessToken, refreshToken } = vendor.authorize(user);
  return tokensOf(accessToken, refreshToken, systemClock() - 1);
}

it("bar#RF-1 two processes, many callers of some records: one vendor call a record, one token", async () => {
  const answers = await orderAll<RefreshAnswers>(children, { users: USERS, callers: CALLERS });
  const expected = USERS.map((user) => [user, { [vendor.live(user).accessTokens.at(-1)!]: CALLERS }]);
  expect(answers).toEqual([Object.fromEntries(expected), Object.fromEntries(expected)]);
  expect(vendor.calls()).toBe(USERS.length);
  for (const user of USERS) expect((await store.get(keyOf(user)))?.version).toBe(2);
});

it("bar#RF-5 one is killed when the vendor had rotated: after its lease the grant is recovered", async () => {
  const key = keyOf("killed");
  await store.put(key, expired("killed"));
  const held = vendor.hold("killed");
  children[0]!.send({ users: ["killed"], callers: 1 });
  await held.reached;
  await stopProcess(children[0]!, "SIGKILL");
  held.release();
  const later = refreshingStore(settings, LEASE_SECONDS);
  const stored = await later.store.withRefreshLease(key, later.refresh);
  await later.store.close();
  expect(stored?.version).toBe(2);
  expect(vendor.live("killed").accessTokens).toContain(stored?.tokens.accessToken.reveal());
  expect(vendor.live("killed").refreshTokens).toContain(stored?.tokens.refreshToken?.reveal());
  expect(vendor.counts("killed").presented).toBe(2);
});
