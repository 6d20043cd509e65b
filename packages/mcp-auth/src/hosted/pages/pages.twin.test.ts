/**
 * The twins of attacks.test.ts, and of the tests of links that end in the meantime: with one defence off,
 * the attack succeeds.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as brokeredCode from "../../../../oauth-core/src/brokered-code/index.ts";
import * as binding from "../../../../oauth-core/src/authorization-server/browser-binding.ts";
import * as recordMac from "../../../../token-store/src/crypto/record-mac.ts";
import * as links from "../../../../token-store/src/links.ts";
import * as rows from "../../../../token-store/src/tokens/row-conditions.ts";
import { openLinkingFixture } from "../../testing/linking/fixture.ts";
import { overwriteRow, rowOf } from "../../testing/record-stores.ts";
import { SOURCE, testSessions } from "../../testing/test-sessions.ts";
import { atVendor, endLink } from "../links/link.ts";
import * as sources from "../records/identity-source.ts";
import * as forms from "./form-token.ts";
import { createPendingTokens } from "./pending-tokens.ts";
import * as signIns from "./sign-ins.ts";

const PLANTED = "A".repeat(43);
const SERVER = "https://server.example";
const HERE = new URL(SERVER);
const OPERATOR = { account: "operator" } as const;

/** No flow is bound to the browser that began it. */
const bindNoBrowser = () =>
  weaken(brokeredCode, ({ createBrokeredCode }) => ({
    createBrokeredCode: (deps, policy) => createBrokeredCode(deps, { ...policy, bindsBrowser: () => false }),
  }));
/** Every browser counts as that of the ticket's user. */
const takeAnyBrowser = () => weaken(signIns, () => ({ isOfUser: () => true }));

it("a browser sends more cookies than a server reads (twin of bar#ST-8)", async () => {
  weaken(binding, () => ({ endSurplusCookies: () => [] }));
  await using fixture = await openLinkingFixture();
  const visitor = fixture.visitor();
  for (let visit = 0; visit < 40; visit += 1) await visitor.get("/connect/x");
  // 209 of them are the 16 KiB of headers that a server reads.
  expect((visitor.jar.header(HERE) ?? "").length).toBeGreaterThan((40 / 209) * 16_000);
});

it("one user takes the places of all where nobody has a share (twin of bar#ST-8)", async () => {
  const { authenticated: records, serverKey, clock: now } = testSessions();
  const questions = createPendingTokens(
    { records, serverKey, now, source: SOURCE },
    { waiting: 20, ofUser: Infinity, listed: 60 },
  );
  const tokens = { accessToken: new Secret("access"), tokenType: "Bearer" };
  const ask = (user: string, browser: number) =>
    questions.ask({ user, vendor: "chat", linkVersion: 0, isOther: true, tokens }, String(browser).padStart(43, "0"));
  for (let browser = 0; browser < 20; browser += 1) await ask("attacker", browser);
  await expect(ask("victim", 99)).rejects.toMatchObject({ code: "temporarily_unavailable" });
});

it("a ticket links the victim's account if any user may answer (twin of bar#CB-7, bar#LK-1)", async () => {
  takeAnyBrowser();
  weaken(forms, () => ({ requireShown: async () => 0 }));
  await using fixture = await openLinkingFixture();
  const ticket = await (await fixture.call("operator")).ask();
  await fixture.visitor().link(ticket);
  expect(await fixture.linked("chat", "operator")).toBeDefined();
});

it("a flow gets the victim's account if bound to no browser (twin of bar#AS-8, bar#LK-2)", async () => {
  takeAnyBrowser();
  bindNoBrowser();
  await using fixture = await openLinkingFixture();
  const attacker = fixture.visitor();
  const begun = await attacker.beginLink("chat", OPERATOR);
  const victim = fixture.visitor();
  await victim.open("/connections");
  const back = await victim.atVendor(begun);
  await victim.get(back);
  expect(await fixture.linked("chat", "operator")).toBeDefined();
});

it("another browser's form starts a sign-in if its token is not compared (twin of bar#AS-7)", async () => {
  weaken(binding, () => ({ isFormToken: () => true }));
  await using fixture = await openLinkingFixture();
  const victim = fixture.visitor();
  await victim.get("/connections");
  const answer = await victim.post("/connections", { action: "sign_in", csrf: "the attacker's" });
  expect(answer.headers.get("location")).toMatch(`${fixture.home.issuer}/`);
});

it("login CSRF: the victim is the attacker if bound to no browser (twin of bar#LK-5)", async () => {
  bindNoBrowser();
  await using fixture = await openLinkingFixture();
  const attacker = fixture.visitor();
  const back = await attacker.atVendor(await attacker.beginSignIn(), OPERATOR);
  const victim = fixture.visitor();
  const { html } = await victim.open(back);
  expect(html).toContain("Sample operator");
});

it("session fixation: the attacker is the victim if the cookie is old (twin of bar#LK-5)", async () => {
  weaken(binding, ({ readCookie }) => ({ createBindingCookie: () => readCookie(`x=${PLANTED}`, "x")! }));
  await using fixture = await openLinkingFixture();
  await fixture.visitor().open("/connections");
  const answer = await fixture.request("/connections", { headers: { cookie: `__Host-sign-in=${PLANTED}` } });
  expect(await answer.text()).toContain("Sample user");
});

it("a redirect is taken at the other vendor's path (twin of bar#XA-1, bar#LK-3)", async () => {
  weaken(brokeredCode, ({ createBrokeredCode }) => ({
    createBrokeredCode: (...args) => {
      const legs = createBrokeredCode(...args);
      const path = "/vendors/chat/callback";
      return { ...legs, callback: (request, trace) => legs.callback({ ...request, path }, trace) };
    },
  }));
  await using fixture = await openLinkingFixture();
  const cookie = (await fixture.deps.signIns.start("user", "Ada")).split(";")[0] ?? "";
  const visitor = fixture.visitor();
  visitor.jar.store(HERE, [`${cookie}; Path=/; Secure`]);
  const page = await visitor.open("/connections");
  const chat = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
  const answer = await visitor.get(`/callback${chat.search}`);
  expect(answer.headers.get("location")).toBe("/connections?linked=chat");
});

it("a writer of the table signs in as the victim when rows carry no MAC (twin of bar#TS-3)", async () => {
  weaken(recordMac, () => ({ isRecordMac: () => true }));
  await using fixture = await openLinkingFixture();
  const [victim, attacker] = [fixture.visitor(), fixture.visitor()];
  const signInOf = async ({ jar }: typeof victim) => {
    const value = jar.get(HERE, "__Host-sign-in") ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
    return rowOf(fixture.table, { kind: "sign-in", id: Buffer.from(digest).toString("base64url") });
  };
  await victim.open("/connections");
  await attacker.open("/connections", OPERATOR);
  const { user = "", since = "" } = (await signInOf(victim)).data;
  await overwriteRow(fixture.table, (await signInOf(attacker)).key, (data) => ({ ...data, user, since }));
  const { status } = await attacker.open(new URL((await (await fixture.call("user")).ask()).url).pathname);
  expect(status).toBe(200);
});

it("if sources are not compared, another vendor's user gets in (twin of bar#LK-6)", async () => {
  weaken(sources, () => ({ isSameSource: () => true }));
  await using fixture = await openLinkingFixture();
  const { access, ask } = await fixture.call();
  const ticket = await ask();
  await using other = fixture.again({ signIn: "chat" });
  expect((await other.authenticate(access))?.user).toBe("user");
  // The cookie of the one before is none here: the record of its user's sign-ins has another name.
  const headers = { cookie: (await other.deps.signIns.start("user", "Ada")).split(";")[0] ?? "" };
  expect((await other.request(new URL(ticket.url).pathname, { headers })).status).toBe(200);
});

it("an old flow links again if link versions are not compared (twin of bar#LK-9)", async () => {
  weaken(rows, () => ({ linkVersionOf: () => 0 }));
  await using fixture = await openLinkingFixture();
  const visitor = fixture.visitor();
  const back = await visitor.atVendor(await visitor.beginLink("chat"));
  await endLink("user", atVendor("chat", fixture));
  await visitor.open(back);
  expect(await fixture.linked("chat")).toBeDefined();
});

it("an old sign-in links again if the time of the end is not read (twin of bar#LK-9)", async () => {
  weaken(links, ({ createLinks }) => ({
    createLinks: (deps) => {
      const made = createLinks(deps);
      const readLink: typeof made.readLink = async (key) => {
        const { endedAtMilliseconds: _, ...undated } = await made.readLink(key);
        return undated;
      };
      return { ...made, readLink };
    },
  }));
  await using fixture = await openLinkingFixture();
  const browser = fixture.browser();
  const back = await browser.consent(await browser.approve());
  await endLink("user", atVendor("home", fixture));
  await fixture.redeem((await browser.finish(back)).searchParams.get("code") ?? "none");
  expect(await fixture.linked("home")).toBeDefined();
});
