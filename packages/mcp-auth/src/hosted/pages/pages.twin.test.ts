/** The twins of attacks.test.ts: with one defence off, the attack succeeds. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type * as BrokeredCode from "../../../../oauth-core/src/brokered-code/index.ts";
import type * as Binding from "../../../../oauth-core/src/authorization-server/browser-binding.ts";

const CODE = "../../../../oauth-core/src/brokered-code/index.ts";
const BINDING = "../../../../oauth-core/src/authorization-server/browser-binding.ts";
const MAC = "../../../../token-store/src/crypto/record-mac.ts";
const FORMS = "./form-token.ts";
const SIGN_INS = "./sign-ins.ts";

beforeEach(() => vi.resetModules());
afterEach(() => {
  for (const path of [CODE, BINDING, MAC, FORMS, SIGN_INS]) vi.doUnmock(path);
});

const SERVER = "https://server.example";
const HERE = new URL(SERVER);
const OPERATOR = { account: "operator" } as const;
const openFixture = async () => (await import("../../testing/linking/fixture.ts")).openLinkingFixture();
/** Every browser counts as that of the ticket's user. */
const anyUser = () =>
  vi.doMock(SIGN_INS, async (original) => ({ ...(await original<object>()), isOfUser: () => true }));
const anyBrowser = () =>
  vi.doMock(CODE, async (original) => {
    const real = await original<typeof BrokeredCode>();
    const createBrokeredCode: typeof real.createBrokeredCode = (deps, policy) =>
      real.createBrokeredCode(deps, { ...policy, bindsBrowser: () => false });
    return { ...real, createBrokeredCode };
  });

it("a browser sends more cookies than a server reads (twin of bar#ST-8)", async () => {
  vi.doMock(BINDING, async (original) => ({ ...(await original<object>()), endSurplusCookies: () => [] }));
  const fixture = await openFixture();
  const visitor = fixture.visitor();
  for (let visit = 0; visit < 60; visit += 1) await visitor.get("/connect/x");
  // 209 of them are the 16 KiB of headers that a server reads.
  expect((visitor.jar.header(HERE) ?? "").length).toBeGreaterThan((60 / 209) * 16_000);
  await fixture.close();
});

it("one user takes the places of all where nobody has a share (twin of bar#ST-8)", async () => {
  const { createPendingTokens } = await import("./pending-tokens.ts");
  const { SOURCE, testSessions } = await import("../../testing/test-sessions.ts");
  const { Secret } = await import("@oauth-broker/oauth-core");
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
  anyUser();
  vi.doMock(FORMS, async (original) => ({ ...(await original<object>()), requireShown: async () => 0 }));
  const fixture = await openFixture();
  const ticket = await (await fixture.call("operator")).ask();
  await fixture.visitor().link(ticket);
  expect(await fixture.linked("chat", "operator")).toBeDefined();
  await fixture.close();
});

it("a flow gets the victim's account if bound to no browser (twin of bar#AS-8, bar#LK-2)", async () => {
  anyUser();
  anyBrowser();
  const fixture = await openFixture();
  const attacker = fixture.visitor();
  const begun = await attacker.send(await attacker.open("/connections", OPERATOR), "connect", "chat");
  const victim = fixture.visitor();
  await victim.open("/connections");
  const back = await victim.atVendor(begun);
  await victim.get(back.pathname + back.search);
  expect(await fixture.linked("chat", "operator")).toBeDefined();
  await fixture.close();
});

it("another browser's form starts a sign-in if its token is not compared (twin of bar#AS-7)", async () => {
  vi.doMock(BINDING, async (original) => ({ ...(await original<object>()), isFormToken: () => true }));
  const fixture = await openFixture();
  const victim = fixture.visitor();
  await victim.get("/connections");
  const answer = await victim.post("/connections", { action: "sign_in", csrf: "the attacker's" });
  expect(answer.headers.get("location")).toMatch(`${fixture.home.issuer}/`);
  await fixture.close();
});

it("login CSRF: the victim is the attacker if bound to no browser (twin of bar#LK-5)", async () => {
  anyBrowser();
  const fixture = await openFixture();
  const attacker = fixture.visitor();
  const back = await attacker.atVendor(await attacker.beginSignIn(), OPERATOR);
  const victim = fixture.visitor();
  const { html } = await victim.open(back.pathname + back.search);
  expect(html).toContain("Sample operator");
  await fixture.close();
});

it("session fixation: the attacker is the victim if the cookie is old (twin of bar#LK-5)", async () => {
  const planted = "A".repeat(43);
  vi.doMock(BINDING, async (original) => {
    const real = await original<typeof Binding>();
    const cookie = real.readCookie(`x=${planted}`, "x");
    return { ...real, createBindingCookie: () => cookie };
  });
  const fixture = await openFixture();
  await fixture.visitor().open("/connections");
  const answer = await fixture.request("/connections", { headers: { cookie: `__Host-sign-in=${planted}` } });
  expect(await answer.text()).toContain("Sample user");
  await fixture.close();
});

it("a redirect is taken at the other vendor's path (twin of bar#XA-1, bar#LK-3)", async () => {
  vi.doMock(CODE, async (original) => {
    const real = await original<typeof BrokeredCode>();
    const createBrokeredCode: typeof real.createBrokeredCode = (deps, policy) => {
      const legs = real.createBrokeredCode(deps, policy);
      return {
        ...legs,
        callback: (request, trace) => legs.callback({ ...request, path: "/vendors/chat/callback" }, trace),
      };
    };
    return { ...real, createBrokeredCode };
  });
  const fixture = await openFixture();
  const cookie = (await fixture.deps.signIns.start("user", "Ada")).split(";")[0] ?? "";
  const visitor = fixture.visitor();
  visitor.jar.store(HERE, [`${cookie}; Path=/; Secure`]);
  const page = await visitor.open("/connections");
  const chat = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
  const answer = await visitor.get(`/callback${chat.search}`);
  expect(answer.headers.get("location")).toBe("/connections?linked=chat");
  await fixture.close();
});

it("a writer of the table signs in as the victim when rows carry no MAC (twin of bar#TS-3)", async () => {
  vi.doMock(MAC, async (original) => ({ ...(await original<object>()), isRecordMac: () => true }));
  const fixture = await openFixture();
  const [victim, attacker] = [fixture.visitor(), fixture.visitor()];
  const rowOf = async ({ jar }: typeof victim) => {
    const value = jar.get(HERE, "__Host-sign-in") ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
    const row = await fixture.table.get({ kind: "sign-in", id: Buffer.from(digest).toString("base64url") });
    if (row === undefined) throw new Error("nobody is signed in");
    return row;
  };
  await victim.open("/connections");
  await attacker.open("/connections", OPERATOR);
  const [{ data: copied }, { keepUntil: _, ...row }] = [await rowOf(victim), await rowOf(attacker)];
  const { user = "", since = "" } = copied;
  await fixture.table.delete(row.key);
  await fixture.table.create({ ...row, data: { ...row.data, user, since } });
  const { status } = await attacker.open(new URL((await (await fixture.call("user")).ask()).url).pathname);
  expect(status).toBe(200);
  await fixture.close();
});
