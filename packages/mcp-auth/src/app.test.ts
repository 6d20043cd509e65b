/** The routes as the app itself lists them: who may call what, in every mode. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "@oauth-broker/service";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createApp, type McpApp } from "./app.ts";
import { systemClock, systemTimer, type Timer } from "@oauth-broker/oauth-core";
import { loadSettings } from "./config.ts";
import { openStorage, type Storage } from "./storage.ts";
import { HOSTED, PRE_REGISTERED, SERVER, SEVERAL } from "./testing/environments.ts";

const PROBES = ["/healthz", "/readyz"];
/** For a person with a browser. */
const PEOPLE = ["/", "/favicon.ico"];
const OPEN = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/authorize",
  "/revoke",
  "/token",
];

const MODES: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ["pre-registered", { ...PRE_REGISTERED, DEPLOYMENT_URL: HOSTED.DEPLOYMENT_URL }, []],
  ["hosted with the platform's callback", HOSTED, [...OPEN, "/register"]],
  ["hosted with its own callback", SERVER, [...OPEN, "/callback"]],
];

describe.each(MODES)("%s", (_, environment, open) => {
  let folder: string;
  let storage: Storage | undefined;
  let server: McpApp;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mcp-app-"));
    const settings = loadSettings({ ...environment, DATA_DIR: folder });
    const log = createLog({ write: () => undefined });
    if (settings.mode === "hosted")
      storage = await openStorage({ now: systemClock, log, environment: { DATA_DIR: folder } });
    server = createApp({ name: "test", version: "1.0.0", tools: [] }, settings, { now: systemClock, log, storage });
  });
  afterAll(async () => {
    await server.close();
    await storage?.close();
    rmSync(folder, { recursive: true });
  });

  /** Method and path of each, except the catch-alls that respond 404 and 405. */
  const routes = () => server.app.routes.filter(({ method, path }) => method !== "ALL" && !path.includes("*"));
  const ask = async (
    { method, path }: { readonly method: string; readonly path: string },
    headers: Readonly<Record<string, string>> = {},
    origin: string = HOSTED.DEPLOYMENT_URL,
  ): Promise<Response> =>
    server.app.request(`${origin}${path}`, { method, headers: { host: new URL(origin).host, ...headers } });

  it("bar#RS-1 says what it is to a browser, at / and with the 401 of /mcp (#29)", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const home = await ask({ method: "GET", path: "/" }, browser);
    expect([home.status, home.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const text = await home.text();
    expect(text).toContain("<h1>test</h1>");
    expect(text).toContain(`<code>${HOSTED.DEPLOYMENT_URL}/mcp</code>`);
    const refused = await ask({ method: "GET", path: "/mcp" }, browser);
    expect([refused.status, refused.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    expect(await refused.text()).toContain("is for MCP clients");
    const client = { accept: "application/json, text/event-stream" };
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const challenge = await ask({ method, path: "/mcp" }, method === "GET" ? client : browser);
      expect(challenge.status).toBe(401);
      expect(challenge.headers.get("www-authenticate")).toBe(refused.headers.get("www-authenticate"));
      expect(challenge.headers.get("content-type") ?? "").not.toContain("html");
    }
    const icon = await ask({ method: "GET", path: "/favicon.ico" });
    expect([icon.status, await icon.text()]).toEqual([204, ""]);
  });

  it("has exactly these paths", () => {
    const paths = new Set(routes().map(({ path }) => path));
    expect([...paths].toSorted()).toEqual([...PROBES, ...PEOPLE, ...open, "/mcp"].toSorted());
  });

  it("bar#RS-1 requires a bearer token only at /mcp", async () => {
    const wanting: string[] = [];
    for (const route of routes()) {
      for (const headers of [{}, { authorization: "Bearer unknown" }]) {
        const challenge = (await ask(route, headers)).headers.get("www-authenticate") ?? "";
        if (challenge.startsWith("Bearer")) wanting.push(`${route.method} ${route.path}`);
      }
    }
    expect(new Set(wanting)).toEqual(new Set(["POST /mcp"]));
  });

  it("bar#RS-7 refuses foreign Host and Origin except at probes; metadata is open", async () => {
    for (const route of routes()) {
      const isProbe = PROBES.includes(route.path);
      const rebound = await ask(route, {}, "https://evil.example");
      expect([route.path, rebound.status]).toEqual([route.path, isProbe ? 200 : 403]);
      for (const origin of ["https://evil.example", "null"]) {
        if (route.path.startsWith("/.well-known/")) continue;
        expect([route.path, (await ask(route, { origin })).status]).toEqual([route.path, isProbe ? 200 : 403]);
        const removed = await ask({ ...route, method: "DELETE" }, { origin });
        expect([route.path, removed.status]).toEqual([route.path, isProbe ? 405 : 403]);
      }
    }
  });

  it("bar#HT-8 lets no page of another origin read anything but metadata", async () => {
    for (const route of routes()) {
      const preflight = { origin: "https://app.example", "access-control-request-method": "POST" };
      const answers = [
        await ask({ ...route, method: "OPTIONS" }, preflight),
        await ask(route, { origin: "https://app.example" }),
      ];
      // Whatever it is answered: a page has to know an outage from a network that is down.
      const reader = route.path.startsWith("/.well-known/") ? "*" : null;
      expect([route.path, ...answers.map(({ headers }) => headers.get("access-control-allow-origin"))]).toEqual([
        route.path,
        reader,
        reader,
      ]);
    }
  });

  it("is not ready once it drains, and still serves", async () => {
    server.drain();
    expect((await ask({ method: "GET", path: "/readyz" })).status).toBe(503);
    expect((await ask({ method: "GET", path: "/healthz" })).status).toBe(200);
    expect((await ask({ method: "POST", path: "/mcp" })).status).toBe(401);
  });
});

it("asks a client without a token for the scopes of all vendors, each with its vendor's id", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-app-"));
  const settings = loadSettings({ ...SEVERAL, VENDOR_SLACK_SCOPES: "chat:write", DATA_DIR: folder });
  const log = createLog({ write: () => undefined });
  const storage = await openStorage({ now: systemClock, log, environment: { DATA_DIR: folder } });
  const server = createApp({ name: "test", version: "1.0.0", tools: [] }, settings, { now: systemClock, log, storage });
  const headers = { host: new URL(SEVERAL.DEPLOYMENT_URL).host };
  const answer = await server.app.request(`${SEVERAL.DEPLOYMENT_URL}/mcp`, { method: "POST", headers });
  expect(answer.headers.get("www-authenticate")).toContain('scope="main:openid main:read slack:chat:write"');
  await server.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

describe("the sweep of unanswered questions", () => {
  const waiting = new Set<() => void>();
  const timer: Timer = {
    ...systemTimer,
    sleep: (ms) => (ms === 30_000 ? new Promise((resolve) => waiting.add(resolve)) : systemTimer.sleep(ms)),
  };
  /** Half a minute, as often as that. */
  const pass = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      for (const end of waiting) end();
      waiting.clear();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  let folder: string;
  let storage: Storage;
  let server: McpApp;
  let sweeps: number;
  /** What the store's answer to a sweep waits for. */
  let answered: Promise<void>;

  beforeEach(async () => {
    waiting.clear();
    [sweeps, answered] = [0, Promise.resolve()];
    folder = mkdtempSync(join(tmpdir(), "mcp-app-"));
    const settings = loadSettings({ ...SEVERAL, DATA_DIR: folder });
    const log = createLog({ write: () => undefined });
    const opened = await openStorage({ now: systemClock, log, environment: { DATA_DIR: folder } });
    const get: Storage["records"]["get"] = async (key, options) => {
      if (key.kind === "link-questions") {
        sweeps += 1;
        await answered;
      }
      return opened.records.get(key, options);
    };
    storage = { ...opened, records: { ...opened.records, get } };
    const options = { now: systemClock, timer, log, storage };
    server = createApp({ name: "test", version: "1.0.0", tools: [] }, settings, options);
  });
  afterEach(async () => {
    await server.close();
    await storage.close();
    rmSync(folder, { recursive: true });
  });

  it.each(["drain", "close"] as const)("ends with %s", async (end) => {
    await pass(1);
    expect(sweeps).toBe(1);
    await server[end]();
    await pass(2);
    expect(sweeps).toBe(1);
  });

  it("does not begin while the one before runs", async () => {
    const store = Promise.withResolvers<void>();
    answered = store.promise;
    await pass(3);
    expect(sweeps).toBe(1);
    store.resolve();
    const next = async () => {
      await pass(1);
      return sweeps;
    };
    await expect.poll(next).toBe(2);
  });
});
