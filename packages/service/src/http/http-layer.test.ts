import { beforeEach, describe, expect, it, vi } from "vitest";
import { jsonAnswer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { endSurplusCookies } from "@oauth-broker/oauth-core/authorization-server";
import { mounted } from "../testing/mounted.ts";
import type { RequestMetrics, Route } from "./http-layer.ts";

const metrics = {
  countRequest: vi.fn<RequestMetrics["countRequest"]>(),
  countRefusal: vi.fn<RequestMetrics["countRefusal"]>(),
};
/** What a page spends at its first request. */
let isSpent: boolean;
beforeEach(() => {
  isSpent = false;
  vi.clearAllMocks();
});

const page: Route["handle"] = () => {
  if (isSpent) return pageAnswer(400, "used already", "");
  isSpent = true;
  return { ...pageAnswer(303, "", ""), headers: { location: "https://app.example/", "set-cookie": "flow-new=v" } };
};
const { app } = mounted(
  [
    { method: "GET", path: "/callback", surface: "browser", handle: page },
    { method: "POST", path: "/callback", surface: "browser", handle: page },
    { method: "GET", path: "/vendors", surface: "api", handle: () => jsonAnswer(200, {}) },
  ],
  { metrics, endSurplusCookies },
);
const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  app.request(path, { headers });

describe("a page that a browser prefetches", () => {
  it.each([{ "sec-purpose": "prefetch;prerender" }, { purpose: "prefetch" }, { "x-moz": "prefetch" }])(
    "is refused to %o, which spends nothing and is no error",
    async (headers) => {
      const ahead = await get("/callback?state=s", headers);
      expect([ahead.status, ahead.headers.get("cache-control"), isSpent]).toEqual([403, "no-store", false]);
      expect(metrics.countRefusal).not.toHaveBeenCalled();
      expect((await get("/callback?state=s")).status).toBe(303);
    },
  );

  it("is refused at its own method alone: a HEAD is 405, a form is the user's", async () => {
    const headers = { purpose: "prefetch" };
    expect((await app.request("/callback", { method: "HEAD", headers })).status).toBe(405);
    expect((await app.request("/callback", { method: "POST", headers })).status).toBe(303);
  });

  it("is none of the paths that backends call", async () => {
    expect((await get("/vendors", { purpose: "prefetch" })).status).toBe(200);
  });
});

describe("a browser with cookies of too many flows", () => {
  const cookies = (count: number): string => Array.from({ length: count }, (_, at) => `flow-${at}=v`).join("; ");
  const endedBy = async (path: string, cookie: string): Promise<string[]> =>
    (await get(path, { cookie, accept: "text/html" })).headers.getSetCookie();

  it("keeps twenty", async () => {
    expect(await endedBy("/callback", `${cookies(20)}; other=1`)).toEqual(["flow-new=v"]);
  });

  it("loses the oldest of more, with any page", async () => {
    const ended = [
      "flow-0=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
      "flow-1=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    ];
    expect(await endedBy("/callback", `other=1; ${cookies(22)}`)).toEqual(["flow-new=v", ...ended]);
    expect(await endedBy("/callback", cookies(22))).toEqual(ended);
    expect(await endedBy("/nothing", cookies(22))).toEqual(ended);
    expect(await endedBy("/vendors", cookies(22))).toEqual([]);
  });

  it("does not lose the one that the answer sets", async () => {
    expect(await endedBy("/callback", `flow-new=v; ${cookies(20)}`)).toEqual(["flow-new=v"]);
  });

  it("loses at most twenty at a time, and none whose name is not ours", () => {
    expect(endSurplusCookies(cookies(400))).toHaveLength(20);
    expect(endSurplusCookies(Array.from({ length: 50 }, (_, at) => `flow-a\r\n${at}=v`).join("; "))).toEqual([]);
    const secure = Array.from({ length: 21 }, (_, at) => `__Host-flow-eu1.${at}=v`).join("; ");
    expect(endSurplusCookies(secure)).toEqual([
      "__Host-flow-eu1.0=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    ]);
  });
});
