/** A ticket in the browser of its user: who may answer, and what comes of it. */
import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { type Call, type LinkingFixture, openLinkingFixture } from "../../testing/linking/fixture.ts";
import { expectPage, NATIVE, openStubServerFixture } from "../../testing/server-fixture.ts";
import { TICKET_SECONDS } from "../tickets/tickets.ts";

let fixture: LinkingFixture;
let call: Call;
beforeEach(async () => {
  fixture = await openLinkingFixture();
  call = await fixture.call();
});
afterEach(() => fixture.close());

const pathOf = ({ url }: { readonly url: string }): string => url.slice(SERVER.length);
const stateOf = (ticket: { readonly id: string }) => call.links.ticketState(ticket.id);

describe("a ticket of the signed-in user", () => {
  it("says who is signed in, which client asks, for which vendor and scopes", async () => {
    const { status, html, headers, url } = await fixture.visitor().open(pathOf(await call.ask()));
    expect([status, url.pathname.startsWith("/connect/")]).toEqual([200, true]);
    expect(html.indexOf("Sample user")).toBeGreaterThan(0);
    expect(html.indexOf("Sample user")).toBeLessThan(html.indexOf("<form"));
    for (const text of ["Desk", "Chat Vendor", "api:read openid", "server.example"]) expect(html).toContain(text);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; frame-ancestors 'none'");
    expect(html).not.toContain("<script");
    expect(html.match(/<h1>/g)).toHaveLength(1);
  });

  it("lists all that the vendor is asked for, the scope that names the account too", async () => {
    const [visitor, ticket] = [await fixture.signedIn(), await call.ask("chat", ["api:read"])];
    const { html } = await visitor.open(pathOf(ticket));
    expect(html).toContain("<dt>Permissions</dt><dd><bdi>openid api:read</bdi></dd>");
    await visitor.link(ticket);
    const asked = fixture.chat.requests().map(({ query }) => query["scope"]);
    expect(asked.filter((scope) => scope !== undefined)).toEqual(["openid api:read"]);
  });

  it("becomes a link, which the call then finds usable, with its scope", async () => {
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
    const ticket = await call.ask();
    const { url, html } = await (await fixture.signedIn()).link(ticket);
    expect(url.pathname + url.search).toBe("/connections?linked=chat");
    expect(html).toContain("Chat Vendor is connected");
    expect(await stateOf(ticket)).toBe("linked");
    const link = await call.links.read("chat");
    if (link.state !== "usable") throw new Error("the link is not usable");
    expect(link).toMatchObject({ notGranted: [], scope: expect.arrayContaining(["openid", "api:read"]) });
    const token = (await link.vendorToken()).accessToken.reveal();
    expect(token).toBe(await fixture.linked("chat"));
    expect(html).not.toContain(token);
    expect(await fixture.linked("home")).toBeUndefined();
  });

  it("that is denied is spent, and the call that waits learns it", async () => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    const page = await visitor.open(pathOf(ticket));
    const { url, html } = await visitor.press(page, "deny");
    expect(url.pathname + url.search).toBe("/connections?error=access_denied");
    expect(html).toContain("You cancelled");
    expect(await stateOf(ticket)).toBe("denied");
    expect((await visitor.open(pathOf(ticket))).status).toBe(410);
    expect(fixture.chat.requests()).toEqual([]);
  });

  it("that is cancelled at the vendor is denied", async () => {
    const ticket = await call.ask();
    const { url } = await (await fixture.signedIn()).link(ticket, { decision: "cancel" });
    expect(url.pathname + url.search).toBe("/connections?error=access_denied");
    expect(await stateOf(ticket)).toBe("denied");
    expect(await fixture.linked("chat")).toBeUndefined();
  });

  it("that the user's organization refuses is not shown as a cancel", async () => {
    await fixture.close();
    const meaning = { code: "access_denied", reason: "user_not_assigned", description: "Not assigned" } as const;
    fixture = await openLinkingFixture({ chat: { callbackErrors: { access_denied: meaning } } });
    call = await fixture.call();
    const { url, html } = await (await fixture.signedIn()).link(await call.ask(), { decision: "cancel" });
    expect(url.search).toBe("?error=organization_refused");
    expect(html).toContain("An administrator of your organization has to allow this");
  });

  it.each([
    ["the vendor says no", 303, "/connections?error=access_denied"],
    ["the vendor is not there", 400, null],
  ])("says what went wrong when %s, also when the store does not take what became of it", async (why, status, to) => {
    await fixture.close();
    const gone = new OAuthError("invalid_request", "There is no such vendor any more");
    fixture = await openLinkingFixture({
      records: (now) => {
        const records = memoryRecordStore({ now });
        const advance: RecordStore["advance"] = async (key, from, patch) => {
          if (key.kind === "ticket" && patch.stage !== "approved") throw new Error("the store is down");
          return records.advance(key, from, patch);
        };
        return { ...records, advance };
      },
      vendorClient: (real) => ({
        ...real,
        resolve: async (vendor) => {
          if (vendor.id === "chat" && why !== "the vendor says no") throw gone;
          return real.resolve(vendor);
        },
      }),
    });
    call = await fixture.call();
    const visitor = await fixture.signedIn();
    let answer = await visitor.send(await visitor.open(pathOf(await call.ask())), "approve");
    if (status === 303) {
      const back = await visitor.atVendor(answer, { decision: "cancel" });
      answer = await visitor.get(back);
    }
    expect([answer.status, answer.headers.get("location")]).toEqual([status, to]);
  });

  it("is spent by the first of two tabs, and by Back; the second is told", async () => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    const [one, two] = [await visitor.open(pathOf(ticket)), await visitor.open(pathOf(ticket))];
    const decided = await Promise.all([visitor.send(one, "approve"), visitor.send(two, "approve")]);
    expect(decided.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 410]);
    expect((await visitor.send(one, "deny")).status).toBe(410);
    expect((await visitor.open(pathOf(ticket))).status).toBe(410);
    expect(await stateOf(ticket)).toBe("approved");
  });

  it("is spent by no GET, and HEAD is 405", async () => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    for (let count = 0; count < 3; count += 1) expect((await visitor.open(pathOf(ticket))).status).toBe(200);
    const cookie = visitor.jar.header(new URL(SERVER)) ?? "";
    const head = await fixture.request(pathOf(ticket), { method: "HEAD", headers: { cookie } });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect(await stateOf(ticket)).toBe("open");
  });

  it.each<[string, (ticket: { readonly id: string }) => Promise<unknown>]>([
    ["expired", async () => fixture.clock.advance(TICKET_SECONDS)],
    ["cancelled by its client", ({ id }) => call.links.cancel(id)],
    ["of an ended session", () => fixture.sessions.end(call.sessionId)],
    ["of a user whose sessions were all ended", () => fixture.sessions.endAll("user")],
  ])("%s is 410, on either method", async (_what, end) => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    const page = await visitor.open(pathOf(ticket));
    await end(ticket);
    expect((await visitor.open(pathOf(ticket))).status).toBe(410);
    expect((await visitor.send(page, "approve")).status).toBe(410);
  });

  it("ended by POST /revoke of its client is 410, and so is one whose client is no longer known", async () => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    await visitor.open(pathOf(ticket));
    const less = fixture.again({ settings: { callback: { ...fixture.callback, clients: [NATIVE] } } });
    const cookie = visitor.jar.header(new URL(SERVER)) ?? "";
    expect((await less.request(pathOf(ticket), { headers: { cookie } })).status).toBe(410);
    await less.close();
    await fixture.revoke(call.access);
    expect((await visitor.open(pathOf(ticket))).status).toBe(410);
  });

  it.each(["A".repeat(43), "x", "A".repeat(300), "%2e%2e%2fetc"])(
    "that is guessed is 410 once signed in: %s",
    async (value) => {
      const visitor = await fixture.signedIn();
      const { status, html } = await visitor.open(`/connect/${value}`);
      expect(status).toBe(410);
      expect(html).not.toContain("Desk");
    },
  );

  it("that its tool may not ask for is none", async () => {
    const narrow = await fixture.call("user", ["chat:api:read"]);
    await expect(narrow.ask("chat", ["api:write"])).rejects.toMatchObject({ code: "server_error" });
    await expect(narrow.ask("chat", ["admin"])).rejects.toMatchObject({ code: "server_error" });
    expect(narrow.links.sessionScope("chat")).toEqual(["api:read"]);
    expect(narrow.links.sessionScope("home")).toEqual([]);
    await (await fixture.signedIn()).link(await call.ask("chat", ["openid", "api:write"]));
    await expect(narrow.ask("chat", ["api:read", "api:write"])).resolves.toBeDefined();
  });
});

describe("without a sign-in", () => {
  it("every ticket, known or not, goes to the sign-in vendor first, and comes back", async () => {
    const ticket = await call.ask();
    const answers = [];
    for (const path of [pathOf(ticket), `/connect/${"A".repeat(43)}`]) {
      const answer = await fixture.visitor().get(path);
      answers.push(answer);
      const url = new URL(answer.headers.get("location") ?? "");
      expect([answer.status, url.origin]).toEqual([303, fixture.home.issuer]);
      expect(url.searchParams.get("scope")).toBe("openid profile");
      expect(url.searchParams.get("redirect_uri")).toBe(`${SERVER}/callback`);
      expect(await answer.text()).toBe("");
      expect(url.href).not.toContain(ticket.url.slice(-43));
    }
    const paths = await Promise.all(
      [pathOf(ticket), `/connect/${"A".repeat(43)}`].map(async (path) => (await fixture.visitor().open(path)).status),
    );
    expect(paths).toEqual([200, 410]);
  });

  it("a decision is not taken", async () => {
    const ticket = await call.ask();
    const page = await fixture.visitor().open(pathOf(ticket));
    expect((await fixture.visitor().send(page, "approve")).status).toBe(303);
    expect(await stateOf(ticket)).toBe("open");
  });
});

describe("a form", () => {
  it("of another user, ticket or version, or with none, is refused, and nothing is spent", async () => {
    const [one, two] = [await call.ask(), await call.ask("chat", ["openid"])];
    const visitor = await fixture.signedIn();
    const page = await visitor.open(pathOf(one));
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? "";
    const other = fixture.visitor();
    const theirs = await other.open(pathOf(await (await fixture.call("operator")).ask()), { account: "operator" });
    const foreign = /name="csrf" value="([^"]+)"/.exec(theirs.html)?.[1] ?? "";
    for (const sent of [undefined, "", "0.", foreign, csrf.replace("0.", "1."), `${csrf}x`]) {
      await expectPage(await visitor.post(pathOf(one), { csrf: sent, decision: "approve" }));
    }
    await expectPage(await visitor.post(pathOf(two), { csrf, decision: "approve" }));
    await expectPage(await visitor.post(pathOf(one), { csrf, decision: "maybe" }));
    await expectPage(await visitor.post(pathOf(one), { csrf }));
    expect([await stateOf(one), await stateOf(two)]).toEqual(["open", "open"]);
  });

  it("bar#LK-7 of another site is refused, and JSON is no form", async () => {
    const ticket = await call.ask();
    const visitor = await fixture.signedIn();
    const page = await visitor.open(pathOf(ticket));
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? "";
    const cross = await visitor.post(pathOf(ticket), { csrf, decision: "approve" }, { "sec-fetch-site": "cross-site" });
    await expectPage(cross, 403);
    expect(await stateOf(ticket)).toBe("open");
    const ours = await visitor.post(pathOf(ticket), { csrf, decision: "approve" }, { "sec-fetch-site": "same-origin" });
    expect(ours.status).toBe(303);
  });

  it("in each of two tabs that signed in at once works", async () => {
    const [one, two] = [await call.ask(), await call.ask("chat", ["openid"])];
    const visitor = fixture.visitor();
    const answers = [await visitor.get(pathOf(one)), await visitor.get(pathOf(two))];
    const backs = [];
    for (const answer of answers) backs.push(await visitor.atVendor(answer));
    const pages = [];
    for (const back of backs) pages.push(await visitor.open(back));
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    for (const page of pages) expect((await visitor.send(page, "deny")).status).toBe(303);
    expect([await stateOf(one), await stateOf(two)]).toEqual(["denied", "denied"]);
  });
});

it("the log holds a ticket's hash, and never its value", async () => {
  const ticket = await call.ask();
  await fixture.visitor().link(ticket);
  const lines = fixture.lines.join("\n");
  expect(lines).toContain(ticket.id);
  expect(lines).toContain("/connect/:ticket");
  expect(lines).not.toContain(ticket.url.slice(-43));
});

it("there is no page and no further callback with one vendor", async () => {
  const plain = await openStubServerFixture();
  for (const path of ["/connections", `/connect/${"A".repeat(43)}`, "/vendors/chat/callback"]) {
    expect((await plain.request(path)).status).toBe(404);
  }
  await plain.close();
  expect((await fixture.request("/vendors/home/callback")).status).toBe(404);
});
