/**
 * Compares the paths a project's service.yaml exposes with those of a server configured by that
 * file.
 */
import { createLog } from "@oauth-broker/service";
import { loadSettings } from "@oauth-broker/mcp-auth/config";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../mcp-auth/src/app.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import type { Storage } from "../../../mcp-auth/src/storage.ts";
import type { Choices } from "../choices/choices.ts";
import { environmentOf, exposedPaths } from "./service-yaml.ts";

/** In addition to /mcp: for probes, and for a person who opens the server's own address. */
const PROBES = ["/", "/healthz", "/readyz"];
const SEVERAL: Choices["vendors"] = [
  { id: "github", scopes: [] },
  { id: "slack", scopes: [] },
];
const CLIENTS = {
  VENDOR_GITHUB_CLIENT_ID: "a",
  VENDOR_GITHUB_CLIENT_SECRET: "b",
  VENDOR_SLACK_CLIENT_ID: "a",
  VENDOR_SLACK_CLIENT_SECRET: "b",
};
const PLATFORM = {
  DEPLOYMENT_URL: "https://server.example.com",
  PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
  VENDOR_CLIENT_ID: "a",
  VENDOR_CLIENT_SECRET: "b",
};

async function pathsOf(choices: Choices, given: Readonly<Record<string, string>> = PLATFORM): Promise<string[]> {
  const settings = loadSettings({ ...given, ...environmentOf(choices) });
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
      const icon = mode === "hosted" ? [] : ["/favicon.ico"];
      expect(await pathsOf(choices)).toEqual(["/mcp", ...icon, ...PROBES, ...exposed].sort());
    },
  );

  it("several vendors: their callbacks and the pages too, each by an entry that leads somewhere", async () => {
    const choices: Choices = { name: "a", mode: "hosted", callback: "server", vendors: SEVERAL };
    const exposed = exposedPaths(choices);
    const { DEPLOYMENT_URL } = PLATFORM;
    const open = (await pathsOf(choices, { DEPLOYMENT_URL, ...CLIENTS })).filter(
      (path) => path !== "/mcp" && !PROBES.includes(path),
    );
    const covers = (entry: string, path: string): boolean =>
      entry.endsWith("/*") ? path.startsWith(entry.slice(0, -1)) : path === entry;
    expect(open).toEqual(expect.arrayContaining(["/connections", "/vendors/slack/callback"]));
    expect(open.filter((path) => !exposed.some((entry) => covers(entry, path)))).toEqual([]);
    expect(exposed.filter((entry) => !open.some((path) => covers(entry, path)))).toEqual([]);
    expect(exposed).not.toContain("/mcp");
  });
});
