import { describe, expect, it } from "vitest";
import { jsonAnswer } from "@oauth-broker/oauth-core/http";
import { OAuthError } from "@oauth-broker/oauth-core";
import { checkAllowedOrigin } from "../configuration/values.ts";
import { createCors, withCors } from "./cors.ts";
import { mounted } from "../testing/mounted.ts";
import type { Route } from "./http-layer.ts";

const APP = "https://app.example.com";
const OTHER = "https://app.example.org";
const EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Retry-After";

describe("an entry of the list", () => {
  it.each([
    "*",
    APP,
    "http://localhost:6274",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
    "https://xn--bcher-kva.example",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "tauri://localhost",
  ])("%s is accepted", (entry) => {
    expect(checkAllowedOrigin(entry)).toBeUndefined();
  });

  it.each([
    "null",
    "",
    "app.example.com",
    "//app.example.com",
    "https://",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://app.example.com?x",
    "https://app.example.com#x",
    "https://app.example.com:443",
    "http://app.example.com:80",
    "https://app.example.com:99999",
    "https://APP.example.com",
    "HTTPS://app.example.com",
    "https://user@app.example.com",
    "https://*.example.com",
    "https://*",
    "*.example.com",
    "**",
    "https://bücher.example",
    "https://127.1",
    "https://app.example.com https://b.example",
    "ftp://app.example.com",
    "wss://app.example.com",
    "file://app.example.com",
    "file://",
  ])("%j is refused", (entry) => {
    expect(checkAllowedOrigin(entry)).toMatch(/^must be an origin/);
  });
});

describe("bar#HT-8 which origins may read", () => {
  const NEARLY = [
    OTHER,
    "null",
    "",
    "*",
    `${APP}:8443`,
    `${APP}.evil.example`,
    `${APP}/`,
    "http://app.example.com",
    "https://app.example.co",
    "https://sub.app.example.com",
    "https://APP.example.com",
    `${APP}, ${OTHER}`,
  ];

  it("those on the list and no others, none with credentials", () => {
    const cors = createCors([APP]);
    expect(cors.headersFor(APP)).toEqual({
      vary: "Origin",
      "access-control-allow-origin": APP,
      "access-control-expose-headers": EXPOSED,
    });
    for (const origin of [undefined, ...NEARLY]) expect(cors.headersFor(origin)).toEqual({ vary: "Origin" });
  });

  it("with * every origin there is, which null is not", () => {
    const cors = createCors([APP, "*"]);
    for (const origin of [APP, OTHER]) {
      expect(cors.headersFor(origin)).toMatchObject({ vary: "Origin", "access-control-allow-origin": "*" });
    }
    for (const origin of [undefined, "null", "", "*"]) expect(cors.headersFor(origin)).toEqual({ vary: "Origin" });
  });

  it("an entry that is no origin matches nothing", () => {
    for (const entry of ["null", "", `${APP}/`]) expect(createCors([entry]).allows(entry)).toBe(false);
  });
});

describe("a route with it", () => {
  const OUTCOMES: Readonly<Record<string, Route["handle"]>> = {
    200: () => jsonAnswer(200, {}),
    202: () => new Response(null, { status: 202, headers: { "mcp-session-id": "x" } }),
    ...Object.fromEntries(
      [
        new OAuthError("invalid_request", "no"),
        new OAuthError("invalid_client", "no"),
        new OAuthError("invalid_request", "no", { status: 403 }),
        new OAuthError("invalid_request", "no", { status: 413 }),
        new OAuthError("slow_down", "no"),
        new OAuthError("server_error", "no"),
        new OAuthError("temporarily_unavailable", "no"),
      ].map((error) => [
        error.status,
        () => {
          throw error;
        },
      ]),
    ),
  };
  const { app } = mounted(
    [
      ...Object.entries(OUTCOMES).map(([status, handle]) =>
        withCors({ method: "POST", path: `/${status}`, surface: "api", handle }, createCors([APP])),
      ),
      { method: "POST", path: "/closed", surface: "api", handle: () => jsonAnswer(200, {}) },
    ],
    { isHttps: true },
  );
  const ask = async (path: string, method: string, headers: Record<string, string>): Promise<Response> =>
    app.request(`https://server.example${path}`, { method, headers });
  const PREFLIGHT = { origin: APP, "access-control-request-method": "POST" };

  it.each(Object.keys(OUTCOMES))("bar#HT-8 %s can be read by a page on the list, and by no other", async (status) => {
    const read = await ask(`/${status}`, "POST", { origin: APP });
    expect(String(read.status)).toBe(status);
    expect(read.headers.get("access-control-allow-origin")).toBe(APP);
    expect(read.headers.get("access-control-expose-headers")).toBe(EXPOSED);
    expect(read.headers.get("strict-transport-security")).not.toBeNull();
    for (const headers of [{ origin: OTHER }, { origin: "null" }, {}] as Record<string, string>[]) {
      const unread = await ask(`/${status}`, "POST", headers);
      expect(unread.headers.get("vary")).toBe("Origin");
      expect([...unread.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it("a preflight is 204, for ten minutes, for any header, and says nothing of credentials", async () => {
    const answer = await ask("/401", "OPTIONS", { ...PREFLIGHT, "access-control-request-headers": "authorization" });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": APP,
      "access-control-allow-headers": "authorization, *",
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-max-age": "600",
      vary: "Origin",
      "cache-control": "no-store",
    });
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
  });

  it("any other OPTIONS request is 405, which a page on the list can read", async () => {
    for (const headers of [{}, { origin: APP }, { ...PREFLIGHT, origin: OTHER }] as Record<string, string>[]) {
      const answer = await ask("/401", "OPTIONS", headers);
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      expect(answer.headers.get("access-control-allow-origin")).toBe(headers["origin"] === APP ? APP : null);
    }
    const removed = await ask("/401", "DELETE", { origin: APP });
    expect([removed.status, removed.headers.get("access-control-allow-origin")]).toEqual([405, APP]);
  });

  it("a route without it sends no CORS headers", async () => {
    for (const [method, status] of [
      ["POST", 200],
      ["OPTIONS", 405],
    ] as const) {
      const answer = await ask("/closed", method, PREFLIGHT);
      const names = [...answer.headers.keys()].filter((name) => name === "vary" || name.startsWith("access-control"));
      expect([answer.status, names]).toEqual([status, []]);
    }
  });
});
