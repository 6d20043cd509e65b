/**
 * What only the wire shows of a server's paths: requests under a name that no URL has, spellings of
 * `/mcp` that clients normalize, and the paths that service.yaml opens. Who may call what, in every
 * mode, is tested beside the app.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { startGitHubVendor } from "../../support/mcp/vendor.ts";
import { MCP_SOURCE } from "../../support/paths.ts";
import { send } from "../../support/broker/platform.ts";
import { exchange } from "../../support/raw-http.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const METADATA = "/.well-known/oauth-authorization-server";
const RESOURCE = "/.well-known/oauth-protected-resource";
/** What the ingress opens; the last four take a POST. */
const OPEN = [METADATA, RESOURCE, `${RESOURCE}/mcp`, "/authorize", "/favicon.ico", "/token", "/revoke", "/register"];

const vendor = shared(startGitHubVendor);
const server = shared(async () => serveTemplate({ ...(await hostedEnvironment()), ...vendor.env }));

const raw = async (route: string, host: string): Promise<number> => {
  const port = Number(new URL(server.url).port);
  const bytes = `${route} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
  return (await exchange({ port, bytes })).status;
};

it.each(["GET /", "POST /mcp", ...OPEN.map((path, at) => `${at < 5 ? "GET" : "POST"} ${path}`)])(
  "bar#RS-7 %s under a foreign Host is 403, and without a name at all it is refused",
  async (route) => {
    const { host, port } = new URL(server.url);
    for (const name of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", `evil.${host}`]) {
      expect([name, await raw(route, name)]).toEqual([name, 403]);
    }
    // A request line that is not a URL never gets that far.
    for (const name of [`evil@${host}`, `${host}.evil.example`, "", "a b"]) {
      expect([400, 403]).toContain(await raw(route, name));
    }
  },
);

it.each(["GET /healthz", "GET /readyz"])(
  "%s answers for any Host: probes do not know the server's name",
  async (route) => {
    for (const name of ["10.0.0.7:8788", "evil.example"]) expect(await raw(route, name)).toBe(200);
  },
);

it.each([
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
  "http://evil.example/mcp",
])("the spelling %s of /mcp does not go around the check", async (spelling) => {
  const { host } = new URL(server.url);
  expect([400, 401, 403, 404]).toContain(await raw(`POST ${spelling}`, host));
  expect([400, 401, 403, 404]).toContain(await raw(`POST http://${host}${spelling}`, host));
});

it("service.yaml of the template exposes exactly the open paths of its mode", async () => {
  const yaml = readFileSync(join(dirname(MCP_SOURCE), "..", "service.yaml"), "utf8");
  const exposed = [...yaml.matchAll(/^ +- (\/\S+)$/gm)].map(([, path = ""]) => path);
  expect(yaml).toMatch(/^mode: hosted$/m);
  expect(exposed.toSorted()).toEqual(OPEN.toSorted());
  for (const path of OPEN) expect([path, (await send(`${server.url}${path}`)).status]).not.toEqual([path, 404]);
});
