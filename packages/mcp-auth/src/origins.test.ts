/**
 * Pages of other origins at every path of the app, with `ALLOWED_ORIGINS` set: what they may call
 * and read, and what not.
 */
import { defined } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { HOSTED, PRE_REGISTERED, SERVER } from "./testing/environments.ts";
import { type AppRequest, openTestApp } from "./testing/test-app.ts";

const APP = "https://app.example";
const OWN = HOSTED.DEPLOYMENT_URL;
const FOREIGN = ["https://evil.example", "null", "", `${APP}.evil.example`, "http://app.example", `${APP}/`];
const METADATA = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
];
const CALLED = ["/token", "/register", "/revoke"];

const MODES: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[], readonly string[]])[] = [
  ["pre-registered", { ...PRE_REGISTERED, DEPLOYMENT_URL: OWN }, ["/mcp"], []],
  ["hosted with the platform's callback", HOSTED, ["/mcp", ...CALLED], ["/authorize"]],
  [
    "hosted with its own callback",
    { ...SERVER, OAUTH_DYNAMIC_REGISTRATION: "open", OAUTH_DYNAMIC_REGISTRATION_HOSTS: "app.example" },
    ["/mcp", ...CALLED],
    ["/authorize", "/callback"],
  ],
];

describe.each(MODES)("%s", (_, environment, called, own) => {
  const listed = shared(() => openTestApp({ ...environment, ALLOWED_ORIGINS: APP }));
  const open = shared(() => openTestApp({ ...environment, ALLOWED_ORIGINS: "*" }));

  const send = (path: string, init?: AppRequest, app = listed): Promise<Response> => app.ask(path, init);
  const preflight = (path: string, origin: string, app = listed): Promise<Response> => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,last-event-id,mcp-protocol-version,mcp-session-id",
    };
    return send(path, { method: "OPTIONS", headers }, app);
  };
  const readers = ({ headers }: Response): string | null => headers.get("access-control-allow-origin");

  it("bar#HT-8 a preflight of a page on the list is 204 without a token, at what clients call", async () => {
    for (const path of called) {
      const answer = await preflight(path, APP);
      expect([path, answer.status, readers(answer)]).toEqual([path, 204, APP]);
      expect(answer.headers.get("access-control-allow-headers")).toBe("authorization, *");
      expect(answer.headers.get("access-control-max-age")).toBe("600");
      expect(answer.headers.get("vary")).toBe("Origin");
      expect([...answer.headers.keys()]).not.toContain("access-control-allow-credentials");
    }
  });

  it("bar#RS-7 pages of other origins are refused there, by every method, and can read nothing", async () => {
    for (const path of called) {
      for (const origin of FOREIGN) {
        const answers = [await preflight(path, origin)];
        for (const method of ["POST", "GET", "DELETE"]) answers.push(await send(path, { method, headers: { origin } }));
        expect([path, origin, ...answers.map(({ status }) => status)]).toEqual([path, origin, 403, 403, 403, 403]);
        expect(answers.map(readers)).toEqual([null, null, null, null]);
      }
    }
  });

  it("bar#HT-8 errors are for a page on the list to read: 400, 401, 403, 405, 413, 415", async () => {
    const json = { "content-type": "application/json" };
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const asked: readonly (readonly [string, string, Record<string, string>, string | undefined, number])[] = [
      ["/mcp", "POST", json, "{}", 401],
      ["/mcp", "POST", { ...json, authorization: "Bearer" }, "{}", 401],
      ["/mcp", "DELETE", {}, undefined, 401],
      ["/mcp", "OPTIONS", {}, undefined, 401],
      ["/token", "POST", form, "grant_type=x", 400],
      ["/token", "POST", { ...form, authorization: "Basic YTpi" }, "a=b", 401],
      ["/token", "POST", form, `a=${"b".repeat(70_000)}`, 413],
      ["/token", "GET", {}, undefined, 405],
      ["/register", "POST", form, "a=b", 415],
      ["/register", "POST", json, "[]", 400],
      ["/revoke", "POST", form, "a=b", 400],
    ];
    for (const [path, method, headers, body, status] of asked.filter(([path]) => called.includes(path))) {
      const init = { method, headers: { ...headers, origin: APP }, ...defined({ body }) };
      const answer = await send(path, init);
      expect([path, method, answer.status, readers(answer)]).toEqual([path, method, status, APP]);
      expect(answer.headers.get("access-control-expose-headers")).toBe("WWW-Authenticate, Mcp-Session-Id, Retry-After");
    }
    const rebound = { method: "POST", headers: { origin: APP, host: "evil.example" } };
    expect((await send("/mcp", rebound)).status).toBe(403);
  });

  it("metadata is for every page to read, a refusal too", async () => {
    if (environment["OAUTH_MODE"] !== "hosted") return;
    const headers = { origin: "https://evil.example" };
    const answers = await Promise.all([
      send("/.well-known/oauth-protected-resource", { headers }),
      send("/.well-known/oauth-protected-resource/mcp", { headers, method: "POST" }),
      send("/.well-known/oauth-authorization-server", { headers: { ...headers, host: "evil.example" } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 405, 403]);
    for (const answer of answers) {
      expect(readers(answer)).toBe("*");
      expect(answer.headers.get("access-control-expose-headers")).toBe("Retry-After");
    }
  });

  it("metadata answers the preflight of every page with 204, and asks for no token", async () => {
    if (environment["OAUTH_MODE"] !== "hosted") return;
    for (const path of METADATA) {
      for (const origin of [...FOREIGN, APP]) {
        const headers = {
          origin,
          "access-control-request-method": "GET",
          "access-control-request-headers": "mcp-protocol-version",
        };
        const answer = await send(path, { method: "OPTIONS", headers });
        expect([path, answer.status, readers(answer)]).toEqual([path, 204, "*"]);
        expect(answer.headers.get("access-control-allow-headers")).toBe("authorization, *");
        const elsewhere = { ...headers, host: "evil.example" };
        expect((await send(path, { method: "OPTIONS", headers: elsewhere })).status).toBe(403);
      }
      expect((await send(path, { method: "OPTIONS" })).status).toBe(405);
    }
  });

  it("with * every origin is allowed but null, and none is named", async () => {
    for (const path of called) {
      for (const origin of [APP, "https://evil.example"]) {
        const answer = await preflight(path, origin, open);
        expect([path, answer.status, readers(answer)]).toEqual([path, 204, "*"]);
      }
      for (const origin of ["null", ""]) {
        const answer = await preflight(path, origin, open);
        expect([path, answer.status, readers(answer)]).toEqual([path, 403, null]);
      }
    }
  });

  it("bar#RS-7 our own pages and callbacks are for no other origin, whatever is allowed", async () => {
    for (const server of [listed, open]) {
      for (const path of own) {
        for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
          const init = { method, headers: { origin: APP, "access-control-request-method": "POST" } };
          const answer = await send(path, init, server);
          expect([path, method, answer.status, readers(answer)]).toEqual([path, method, 403, null]);
        }
        expect((await send(path, { headers: { origin: OWN } }, server)).status).toBe(400);
      }
    }
  });

  it("our own pages and callers without an Origin are served as before", async () => {
    for (const headers of [{}, { origin: OWN }] as Record<string, string>[]) {
      const answer = await send("/mcp", { method: "POST", headers });
      expect([answer.status, readers(answer), answer.headers.get("vary")]).toEqual([401, null, "Origin"]);
      // No preflight: browsers send none to their own origin.
      const asked = { ...headers, "access-control-request-method": "POST" };
      expect((await send("/mcp", { method: "OPTIONS", headers: asked })).status).toBe(401);
    }
  });
});
