import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { createCookieJar } from "./cookie-jar.ts";
import { driveConsent } from "./drive-consent.ts";
import { startScriptedVendor, type VendorAnswer } from "./scripted-vendor.ts";

let handler: VendorAnswer;
const site = ofEachTest(() => startScriptedVendor({ "*": (request) => handler(request) }));

const seen = (): string[] =>
  site.received.map(({ method, path, body }) => `${method} ${path}${body === "" ? "" : ` ${body}`}`);
const stopAt = (url: URL): boolean => url.pathname === "/end";
const redirect = (status: number, location: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { Location: location, ...headers },
});
const BUTTONS =
  '<button name="decision" value="approve">Yes</button><button name="decision" value="deny">No</button></form>';
const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;

describe("driveConsent", () => {
  it("answers the first matching address without requesting it", async () => {
    handler = () => redirect(302, "/end?code=1");
    expect((await driveConsent(`${site.url}/start`, { stopAt })).href).toBe(`${site.url}/end?code=1`);
    expect(seen()).toEqual(["GET /start"]);
  });

  it("requests nothing when the start already matches", async () => {
    expect((await driveConsent(`${site.url}/end`, { stopAt })).pathname).toBe("/end");
    expect(seen()).toEqual([]);
  });

  it("sends hidden members and one button, then follows the 303 with GET and the cookie", async () => {
    handler = ({ path, headers }) => {
      if (path === "/start")
        return { body: `<form method="POST" action="/do">${field("csrf", "a&amp;&quot;b")}${BUTTONS}` };
      if (path === "/do") return redirect(303, "/next", { "Set-Cookie": "flow=1; Path=/" });
      return redirect(303, `/end?cookie=${headers.cookie}`);
    };
    const end = await driveConsent(`${site.url}/start`, { stopAt });
    expect(seen()).toEqual(["GET /start", "POST /do csrf=a%26%22b&decision=approve", "GET /next"]);
    expect(end.searchParams.get("cookie")).toBe("flow=1");
  });

  it("presses deny where a page has it, and approves a page that has no cancel", async () => {
    handler = ({ method, body }) =>
      method === "POST" ? redirect(303, `/end?${body}`) : { body: `<form method="post">${BUTTONS}` };
    expect((await driveConsent(`${site.url}/start`, { stopAt, decision: "deny" })).search).toBe("?decision=deny");
    expect((await driveConsent(`${site.url}/start`, { stopAt, decision: "cancel" })).search).toBe("?decision=approve");
  });

  it("repeats the form on 307 and posts a page that posts itself", async () => {
    handler = ({ path }) => {
      if (path === "/start") return { body: `<form method="post" action="/a">${field("code", "1")}</form>` };
      return path === "/a" ? redirect(307, "/b") : redirect(303, "/end");
    };
    await driveConsent(`${site.url}/start`, { stopAt });
    expect(seen()).toEqual(["GET /start", "POST /a code=1", "POST /b code=1"]);
  });

  it("uses the given browser", async () => {
    const cookieJar = createCookieJar();
    cookieJar.store(new URL(site.url), ["known=1"]);
    handler = ({ headers }) => redirect(303, `/end?${headers.cookie}`);
    expect((await driveConsent(`${site.url}/start`, { stopAt, cookieJar })).search).toBe("?known=1");
  });

  it("stops at an error page and says which, without the query", async () => {
    handler = () => ({ status: 400, body: "no" });
    const failed = driveConsent(`${site.url}/start?code=secret`, { stopAt });
    await expect(failed).rejects.toMatchObject({
      message: `${site.url}/start answered 400`,
      cause: { status: 400, body: "no" },
    });
  });

  it("stops at a page without a form", async () => {
    handler = () => ({ body: "<p>done</p>" });
    await expect(driveConsent(`${site.url}/start`, { stopAt })).rejects.toThrow("no form");
  });

  it("gives up after 30 steps", async () => {
    handler = () => redirect(303, "/again");
    await expect(driveConsent(`${site.url}/start`, { stopAt })).rejects.toThrow("30 steps");
    expect(seen()).toHaveLength(30);
  });
});
