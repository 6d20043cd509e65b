/**
 * Compares the paths a project's service.yaml exposes with those of a server configured by that
 * file.
 */
import { createLog } from "@oauth-broker/oauth-core/service";
import { loadSettings } from "@oauth-broker/mcp-auth/config";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../mcp-auth/src/app.ts";
import { systemClock } from "../../../mcp-auth/src/clock.ts";
import type { Storage } from "../../../mcp-auth/src/storage.ts";
import type { Choices } from "../choices/choices.ts";
import { environmentOf, exposedPaths } from "./service-yaml.ts";

const PROBES = ["/healthz", "/readyz"];
const PLATFORM = {
  DEPLOYMENT_URL: "https://server.example.com",
  PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
  VENDOR_CLIENT_ID: "a",
  VENDOR_CLIENT_SECRET: "b",
};

async function pathsOf(choices: Choices): Promise<string[]> {
  const settings = loadSettings({ ...PLATFORM, ...environmentOf(choices) });
  const { app, close } = createApp(
    { name: "a", version: "1.0.0", tools: [] },
    settings,
    // No request is sent to it.
    { now: systemClock, log: createLog({ write: () => undefined }), storage: {} as Storage },
  );
  await close();
  return [...new Set(app.routes.map(({ path }) => path))].filter((path) => !path.includes("*")).sort();
}

describe("service.expose", () => {
  it.each([
    ["hosted", "platform"],
    ["hosted", "server"],
    ["pre-registered", "platform"],
  ] as const)(
    "%s mode, the %s's callback: every open path of the server but its probes, and /mcp not",
    async (mode, callback) => {
      const choices: Choices = { name: "a", mode, callback, vendors: [{ id: "github", scopes: [] }] };
      const exposed = exposedPaths(choices);
      expect(await pathsOf(choices)).toEqual(["/mcp", ...PROBES, ...exposed].sort());
    },
  );
});
