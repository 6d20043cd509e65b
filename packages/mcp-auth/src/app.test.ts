/** The routes as the app itself lists them: who may call what, in every mode. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemTimer, type Timer } from "@oauth-broker/oauth-core";
import type { Storage } from "./storage.ts";
import { HOSTED, PRE_REGISTERED, SERVER, SEVERAL } from "./testing/environments.ts";
import { openTestApp, type TestApp } from "./testing/test-app.ts";

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
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(environment);
  });
  afterAll(() => app.close());

  /** Each path with the methods that any has, and probes with theirs. */
  const routes = () =>
    app.server.app.routes.flatMap(({ path }) =>
      (PROBES.includes(path) ? ["GET"] : ["GET", "POST"]).map((method) => ({ method, path })),
    );
  const ask = (
    { method, path }: { readonly method: string; readonly path: string },
    headers: Readonly<Record<string, string>> = {},
    origin: string = HOSTED.DEPLOYMENT_URL,
  ): Promise<Response> => app.ask(path, { method, headers }, origin);

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
    expect(new Set(wanting)).toEqual(new Set(["GET /mcp", "POST /mcp"]));
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
    app.server.drain();
    expect((await ask({ method: "GET", path: "/readyz" })).status).toBe(503);
    expect((await ask({ method: "GET", path: "/healthz" })).status).toBe(200);
    expect((await ask({ method: "POST", path: "/mcp" })).status).toBe(401);
  });
});

it("asks a client without a token for the scopes of all vendors, each with its vendor's id", async () => {
  await using app = await openTestApp({ ...SEVERAL, VENDOR_SLACK_SCOPES: "chat:write" });
  const answer = await app.ask("/mcp", { method: "POST" });
  expect(answer.headers.get("www-authenticate")).toContain('scope="main:openid main:read slack:chat:write"');
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
  let app: TestApp;
  let sweeps: number;
  /** What the store's answer to a sweep waits for. */
  let answered: Promise<void>;
  const watched = (real: Storage): Storage => {
    const get: Storage["records"]["get"] = async (key, options) => {
      if (key.kind === "link-questions") {
        sweeps += 1;
        await answered;
      }
      return real.records.get(key, options);
    };
    return { ...real, records: { ...real.records, get } };
  };

  beforeEach(async () => {
    waiting.clear();
    [sweeps, answered] = [0, Promise.resolve()];
    app = await openTestApp(SEVERAL, { timer, store: watched });
  });
  afterEach(() => app.close());

  it.each(["drain", "close"] as const)("ends with %s", async (end) => {
    await pass(1);
    expect(sweeps).toBe(1);
    await app.server[end]();
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
