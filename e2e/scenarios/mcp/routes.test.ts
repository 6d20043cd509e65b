/**
 * Every path of a running server, in both modes: only `/mcp` requires a bearer token, the open
 * paths are open, no other path exists, and requests under a foreign name or from a foreign page
 * are refused everywhere except at the probes.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { type ServerInProcess, serveTemplate } from "../../support/mcp/in-process.ts";
import { type Environment, hostedEnvironment } from "../../support/mcp/process.ts";
import { startGitHubVendor, type GitHubVendor } from "../../support/mcp/vendor.ts";
import { MCP_SOURCE } from "../../support/paths.ts";
import { send } from "../../support/broker/platform.ts";
import { exchange } from "../../support/raw-http.ts";

/** The answer of a path to an empty request. */
type Statuses = Readonly<Record<string, number>>;

const PROBES: Statuses = { "GET /healthz": 200, "GET /readyz": 200 };
/** For a user who opens the server in a browser. The ingress does not expose the page at /. */
const FOR_BROWSERS: Statuses = { "GET /": 200, "GET /favicon.ico": 204 };
const MODES: Readonly<Record<string, { readonly env: () => Promise<Environment>; readonly routes: Statuses }>> = {
  "pre-registered": {
    env: async () => ({ OAUTH_MODE: "pre-registered", PORT: String(await freePort()) }),
    routes: { ...PROBES, ...FOR_BROWSERS, "POST /mcp": 401 },
  },
  hosted: {
    env: hostedEnvironment,
    routes: {
      ...PROBES,
      ...FOR_BROWSERS,
      "POST /mcp": 401,
      "GET /.well-known/oauth-authorization-server": 200,
      "GET /.well-known/oauth-protected-resource": 200,
      "GET /.well-known/oauth-protected-resource/mcp": 200,
      "GET /authorize": 400,
      "POST /token": 400,
      "POST /revoke": 400,
      "POST /register": 400,
    },
  },
};
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

let vendor: GitHubVendor;
beforeAll(async () => {
  vendor = await startGitHubVendor();
});
afterAll(() => vendor.close());

describe.each(Object.entries(MODES))("in %s mode", (_, { env, routes }) => {
  let server: ServerInProcess;
  beforeAll(async () => {
    server = await serveTemplate({ ...(await env()), ...vendor.env });
  });
  afterAll(() => server.stop());

  const ask = async (route: string, headers: Readonly<Record<string, string>> = {}) => {
    const [method = "", path = ""] = route.split(" ");
    const type = path === "/register" ? "application/json" : "application/x-www-form-urlencoded";
    const form = method === "GET" || method === "HEAD" ? {} : { body: path === "/register" ? "{}" : "a=b" };
    return send(`${server.url}${path}`, { method, ...form, headers: { "content-type": type, ...headers } });
  };
  const raw = async (route: string, ...headers: string[]): Promise<number> => {
    const port = Number(new URL(server.url).port);
    const bytes = [`${route} HTTP/1.1`, ...headers, "Content-Length: 0", "Connection: close", "", ""].join("\r\n");
    return (await exchange({ port, bytes })).status;
  };

  it.each(Object.entries(routes))("%s is %i, with any bearer token the same", async (route, status) => {
    expect((await ask(route)).status).toBe(status);
    const withToken = await ask(route, { authorization: "Bearer unknown-token" });
    const isToken = route === "POST /token" || route === "POST /revoke";
    // A client authenticates here without that header, so the header is refused, but not as a
    // bearer token.
    expect(withToken.status).toBe(isToken ? 401 : status);
    const challenge = withToken.headers.get("www-authenticate") ?? "";
    // At the token endpoint it names the scheme that the client used (rfc6749#5.2).
    expect(challenge.startsWith("Bearer")).toBe(route === "POST /mcp" || isToken);
  });

  it("no other path answers, by any method", async () => {
    const paths = new Set(Object.keys(MODES["hosted"]!.routes).map((route) => route.split(" ")[1] ?? ""));
    const others = [
      "/callback",
      "/consent",
      "/sse",
      "/message",
      "/.well-known/openid-configuration",
      "/metrics",
      "/mcp/x",
      "/mcp/",
    ];
    for (const path of [...paths, ...others]) {
      const known = Object.keys(routes).filter((route) => route.endsWith(` ${path}`));
      for (const method of METHODS.filter((one) => !known.includes(`${one} ${path}`))) {
        // Served by GET, and so by HEAD.
        if (method === "HEAD" && known.includes(`GET ${path}`)) continue;
        const { status, headers } = await ask(`${method} ${path}`);
        const expected = known.length === 0 ? 404 : path === "/mcp" ? 401 : 405;
        // Pages read of metadata also why they get none.
        const isReadable = expected === 405 && path.startsWith("/.well-known/");
        expect([method, path, status, headers.has("access-control-allow-origin")]).toEqual([
          method,
          path,
          expected,
          isReadable,
        ]);
      }
    }
  });

  it("bar#RS-1 every method on /mcp without a valid token gets the answer of POST", async () => {
    const { headers } = await ask("POST /mcp");
    for (const method of METHODS) {
      const asked = await ask(`${method} /mcp`);
      expect([method, asked.status, asked.headers.get("www-authenticate")]).toEqual([
        method,
        401,
        headers.get("www-authenticate"),
      ]);
    }
  });

  const guarded = Object.keys(routes).filter((route) => !(route in PROBES));

  it.each(guarded)("bar#RS-7 %s under a foreign Host, or from a foreign page, is 403", async (route) => {
    const { host, port } = new URL(server.url);
    for (const name of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", `evil.${host}`]) {
      expect([name, await raw(route, `Host: ${name}`)]).toEqual([name, 403]);
    }
    // A request line that is not a URL never gets that far.
    for (const name of [`evil@${host}`, `${host}.evil.example`, "", "a b"]) {
      expect([400, 403]).toContain(await raw(route, `Host: ${name}`));
    }
    // Metadata is public: every page may read it.
    const isMetadata = route.includes("/.well-known/");
    for (const origin of ["https://evil.example", "null", `http://${host}.evil.example`, `http://localhost:${port}`]) {
      const { status, headers } = await ask(route, { origin });
      const reader = headers.get("access-control-allow-origin");
      expect([origin, status, reader]).toEqual([origin, ...(isMetadata ? [200, "*"] : [403, null])]);
    }
    expect((await ask(route, { origin: server.url })).status).toBe(routes[route]);
  });

  it.each(Object.keys(PROBES))("%s answers for any Host: probes do not know the server's name", async (route) => {
    for (const name of ["10.0.0.7:8788", "evil.example"]) expect(await raw(route, `Host: ${name}`)).toBe(200);
    expect((await ask(route, { origin: "https://evil.example" })).status).toBe(200);
  });

  it("no spelling of /mcp goes around the check", async () => {
    const { host } = new URL(server.url);
    const spellings = [
      "/mcp?",
      "/mcp?x=/healthz",
      "/mcp#x",
      "//mcp",
      "/./mcp",
      "/healthz/../mcp",
      "/healthz/%2e%2e/mcp",
      "/MCP",
      "/mcp%00",
      "/mcp;a=b",
      "/%6dcp",
      "\\mcp",
      `http://${host}/mcp`,
      "http://evil.example/mcp",
    ];
    for (const spelling of spellings) {
      const status = await raw(`POST ${spelling}`, `Host: ${host}`);
      expect([spelling, [400, 401, 403, 404].includes(status)], `${spelling}: ${status}`).toEqual([spelling, true]);
    }
  });
});

it("service.yaml of the template exposes exactly the open paths of its mode", () => {
  const yaml = readFileSync(join(dirname(MCP_SOURCE), "..", "service.yaml"), "utf8");
  const exposed = [...yaml.matchAll(/^ +- (\/\S+)$/gm)].map(([, path = ""]) => path);
  const open = Object.keys(MODES["hosted"]?.routes ?? {}).filter(
    (route) => !(route in PROBES) && route !== "POST /mcp" && route !== "GET /",
  );
  expect(yaml).toMatch(/^mode: hosted$/m);
  expect(exposed.toSorted()).toEqual(open.map((route) => route.replace(/^\w+ /, "")).toSorted());
});
