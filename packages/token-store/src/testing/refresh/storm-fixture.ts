/**
 * Processes that refresh the same records at the same moment: one table, one strict vendor. For
 * refresh/storm.test.ts.
 */
import { patience } from "@oauth-broker/oauth-core/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "@oauth-broker/oauth-core";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import { type RefreshVendor, startRefreshVendor } from "@oauth-broker/simulators/refresh-models";
import { type Answers, compose, keyOf, type RefreshSettings } from "./child.ts";
import { killRefreshChildren, startRefreshChild } from "./children.ts";

export interface StormFixture {
  readonly vendor: RefreshVendor;
  /** Records whose access token has expired. @returns their users */
  connect(count: number): Promise<readonly string[]>;
  /** In every process at once. */
  callAll(users: readonly string[], callers: number): Promise<readonly Answers[]>;
  version(user: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export async function startStormFixture(processes: number): Promise<StormFixture> {
  const engine = await startDynamoDb();
  const vendor = await startRefreshVendor({ model: "strict" });
  const folder = mkdtempSync(join(tmpdir(), "storm-"));
  const settings: RefreshSettings = {
    endpoint: engine.endpoint,
    region: engine.region,
    table: await engine.createTable(),
    // The engine shares two cores with all of them, and its speed is not under test. A request that
    // is aborted and sent again makes it slower still.
    deadlineMs: patience(6_000),
    requestTimeoutMs: patience(6_000),
    times: { leaseSeconds: 240, vendorTimeoutMs: 60_000, storeBudgetMs: 60_000, waitMs: 180_000, commitMs: 60_000 },
    keyFile: join(folder, "key"),
    vendor: { tokenEndpoint: vendor.tokenEndpoint, clientId: vendor.clientId, clientSecret: vendor.clientSecret },
    rotates: true,
  };
  const own = compose(settings, async () => undefined);
  let users = 0;
  const connect = async (): Promise<string> => {
    users += 1;
    const user = `user ${users}`;
    const { accessToken, refreshToken } = vendor.authorize(user);
    await own.records.replace(keyOf(user), {
      accessToken: new Secret(accessToken),
      refreshToken: new Secret(refreshToken),
      tokenType: "Bearer",
      expiresAt: own.now() - 1,
    });
    return user;
  };
  // The first write creates the key file: before the children, which only read it.
  const warm = await connect();
  const children = await Promise.all(Array.from({ length: processes }, () => startRefreshChild(settings)));
  for (const child of children) await child.call([warm]);

  return {
    vendor,
    connect: (count) => Promise.all(Array.from({ length: count }, connect)),
    callAll: (callees, callers) => Promise.all(children.map((child) => child.call(callees, { callers }))),
    version: async (user) => (await own.records.read(keyOf(user)))?.stored.version,
    close: async () => {
      await killRefreshChildren();
      await own.close();
      await vendor.close();
      await engine.close();
      rmSync(folder, { recursive: true });
    },
  };
}
