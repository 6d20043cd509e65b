/** With one defence off: another sign-in vendor's users, and a link that ends in the meantime. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const SOURCE = "../records/identity-source.ts";
const LINKS = "../../../../token-store/src/links.ts";
const VERSIONS = "../../../../token-store/src/tokens/row-conditions.ts";

beforeEach(() => vi.resetModules());
afterEach(() => {
  for (const path of [SOURCE, LINKS, VERSIONS]) vi.doUnmock(path);
});

it("if sources are not compared, another vendor's user gets in (twin of bar#LK-6)", async () => {
  vi.doMock(SOURCE, async (original) => ({ ...(await original<object>()), isSameSource: () => true }));
  const { openLinkingFixture } = await import("../../testing/linking/fixture.ts");
  const fixture = await openLinkingFixture();
  const { access, ask } = await fixture.call();
  const ticket = await ask();
  const other = fixture.again({ signIn: "chat" });
  expect((await other.authenticate(access))?.user).toBe("user");
  // The cookie of the one before is none here: the record of its user's sign-ins has another name.
  const headers = { cookie: (await other.deps.signIns.start("user", "Ada")).split(";")[0] ?? "" };
  expect((await other.request(new URL(ticket.url).pathname, { headers })).status).toBe(200);
  await other.close();
  await fixture.close();
});

it("an old flow links again if link versions are not compared (twin of bar#LK-9)", async () => {
  vi.doMock(VERSIONS, async (original) => ({ ...(await original<object>()), linkVersionOf: () => 0 }));
  const { openLinkingFixture } = await import("../../testing/linking/fixture.ts");
  const { atVendor, endLink } = await import("../links/link.ts");
  const fixture = await openLinkingFixture();
  const visitor = fixture.visitor();
  const page = await visitor.open("/connections");
  const back = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
  await endLink("user", atVendor("chat", fixture));
  await visitor.open(back.pathname + back.search);
  expect(await fixture.linked("chat")).toBeDefined();
  await fixture.close();
});

it("an old sign-in links again if the time of the end is not read (twin of bar#LK-9)", async () => {
  vi.doMock(LINKS, async (original) => {
    const real = await original<{ readLink: (...args: unknown[]) => Promise<object> }>();
    const readLink = async (...args: unknown[]) => ({
      ...(await real.readLink(...args)),
      endedAtMilliseconds: undefined,
    });
    return { ...real, readLink };
  });
  const { openLinkingFixture } = await import("../../testing/linking/fixture.ts");
  const { atVendor, endLink } = await import("../links/link.ts");
  const fixture = await openLinkingFixture();
  const browser = fixture.browser();
  const back = await browser.consent(await browser.approve());
  await endLink("user", atVendor("home", fixture));
  await fixture.redeem((await browser.finish(back)).searchParams.get("code") ?? "none");
  expect(await fixture.linked("home")).toBeDefined();
  await fixture.close();
});
