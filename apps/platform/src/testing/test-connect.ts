/**
 * The OAuth half of the platform without pages: its own data folder, a clock that the test can
 * advance, loopback allowed.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { SettingsChange } from "../connectors/connector.ts";
import type { ConnectDeps } from "../oauth/connect.ts";
import { createConnections } from "../oauth/connections.ts";
import { openStorage } from "../storage.ts";
import type { SignedIn } from "../users/session.ts";
import { findUser } from "../users/users.ts";
import { activeConnector } from "./active-connector.ts";

const PLATFORM_URL = "https://platform.example";
/** The callback of connectors that are not hosted. */
export const REDIRECT_URI = `${PLATFORM_URL}/oauth/callback`;

export type TestConnect = Awaited<ReturnType<typeof openTestConnect>>;

export function signedIn(userId: string, browser = userId): SignedIn {
  const user = findUser(userId);
  if (user === undefined) throw new Error("no such sample user");
  const value = `cookie of ${browser}`;
  return { user, sessionId: hashOf(value), cookie: { value, hash: hashOf(value) } };
}

export async function openTestConnect() {
  const folder = mkdtempSync(join(tmpdir(), "platform-test-"));
  const now = fixedClock(systemClock());
  const storage = await openStorage(folder, now, { allowCidrs: [] });
  const { connectors, records, keys } = storage;
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 5_000 });
  const deps: ConnectDeps = {
    connectors,
    records,
    keys,
    now,
    connections: createConnections({ records, keys, now }),
    fetch: egress.fetch,
    platformUrl: PLATFORM_URL,
    egress: { allowLoopback: true, allowCidrs: [] },
  };
  return {
    ...deps,
    advance: now.advance,
    /** An active connector whose server address is `serverUrl`. */
    addConnector: (id: string, settings: SettingsChange, serverUrl = "http://127.0.0.1:9/mcp") =>
      activeConnector({ id, name: `Connector ${id}`, settings }, serverUrl, { connectors, deployedAt: now() }),
    /** Everything in the data folder, as bytes read as text. */
    folderText: () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), "latin1"))
        .join("\n"),
    close: async () => {
      await storage.close();
      await egress.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
