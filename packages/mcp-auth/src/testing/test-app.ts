/** A server as its environment makes it: every route, and storage in a new folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined, systemClock } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { type AppOptions, createApp, type McpApp } from "../app.ts";
import { type Environment, loadSettings } from "../config.ts";
import type { ServerDefinition } from "../server.ts";
import type { Settings } from "../settings.ts";
import { openStorage, type Storage } from "../storage.ts";
import { type Closing, closing } from "./closing.ts";

export interface TestApp extends Closing {
  readonly server: McpApp;
  readonly settings: Settings;
  /** A request under the server's own name, if no header has another. */
  ask(path: string, init?: AppRequest, origin?: string): Promise<Response>;
}

export interface AppRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: NonNullable<RequestInit["body"]>;
}

export interface TestAppOptions extends Partial<AppOptions> {
  /** Replaces parts of the storage. */
  readonly store?: (real: Storage) => Storage;
  readonly tools?: ServerDefinition["tools"];
}

export async function openTestApp(
  environment: Environment,
  { store = (real) => real, tools = [], now = systemClock, ...options }: TestAppOptions = {},
): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), "mcp-app-"));
  const settings = loadSettings({ ...environment, DATA_DIR: folder });
  const log = createLog({ write: () => undefined });
  const onTiming = options.metrics?.timeStorage;
  const given = { now, log, environment: { DATA_DIR: folder }, ...defined({ onTiming }) };
  const storage = settings.mode === "hosted" ? store(await openStorage(given)) : undefined;
  const definition = { name: "test", version: "1.0.0", tools };
  const server = createApp(definition, settings, { now, log, storage, ...options });
  const ask: TestApp["ask"] = async (path, init, origin = settings.deploymentUrl ?? "http://127.0.0.1") =>
    server.app.request(`${origin}${path}`, { ...init, headers: { host: new URL(origin).host, ...init?.headers } });
  return closing({ server, settings, ask }, async () => {
    await server.close();
    await storage?.close();
    rmSync(folder, { recursive: true });
  });
}
