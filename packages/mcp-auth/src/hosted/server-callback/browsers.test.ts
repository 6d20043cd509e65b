/** Users with tabs, reloads, previews and several devices. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectPage,
  location,
  openOpenIdServerFixture,
  type OpenIdServerFixture,
} from "../../testing/server-fixture.ts";

let fixture: OpenIdServerFixture;
beforeAll(async () => {
  fixture = await openOpenIdServerFixture();
});
afterAll(() => fixture.close());

describe("users and their browsers", () => {
  it("survives a double GET and a reload: every page can be answered", async () => {
    const browser = fixture.browser();
    const pages = [await browser.ask(), await browser.ask(), await browser.ask()];
    expect(new Set(pages.map(({ fields }) => fields["csrf"])).size).toBe(1);
    for (const page of pages) expect((await browser.decide(page)).status).toBe(303);
  });

  it("two tabs, of two clients, finish on their own, in whatever order", async () => {
    const browser = fixture.browser();
    const first = await browser.ask({ state: "one" });
    const second = await browser.ask({
      state: "two",
      client_id: "other",
      redirect_uri: "https://other.example/back",
    });
    const left = [location(await browser.decide(second)), location(await browser.decide(first))];
    const [two, one] = [await browser.consent(left[0]!), await browser.consent(left[1]!)];
    expect((await browser.finish(one)).searchParams.get("state")).toBe("one");
    const back = await browser.finish(two);
    expect([back.origin, back.searchParams.get("state")]).toEqual(["https://other.example", "two"]);
  });

  it("a second GET of the callback is a page, and does not disturb the client", async () => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    const back = await browser.finish(callback);
    expect(await expectPage(await browser.get(callback))).toContain("already answered");
    expect((await fixture.redeem(back.searchParams.get("code"))).status).toBe(200);
  });

  it.each(["sec-purpose", "purpose", "x-moz"])("a prefetch of the callback, by %s, spends nothing", async (name) => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    const headers = { [name]: "prefetch", cookie: browser.jar.header(callback) ?? "" };
    const ahead = await fixture.request(callback.pathname + callback.search, { headers });
    expect([ahead.status, ahead.headers.get("cache-control")]).toEqual([403, "no-store"]);
    const back = await browser.finish(callback);
    expect((await fixture.redeem(back.searchParams.get("code"))).status).toBe(200);
  });

  it("HEAD, as of a link preview, is 405 and spends nothing", async () => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    for (const path of [callback.pathname + callback.search, "/authorize"]) {
      const answer = await fixture.request(path, {
        method: "HEAD",
        headers: { cookie: browser.jar.header(callback) ?? "" },
      });
      expect(answer.status).toBe(405);
    }
    expect((await fixture.request("/callback", { method: "POST" })).status).toBe(405);
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  });
});
