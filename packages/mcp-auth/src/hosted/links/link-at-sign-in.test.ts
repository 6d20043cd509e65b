/** With several vendors a sign-in at a client also links: not over a disconnect that came in the meantime. */
import { memoryTokenRows } from "@oauth-broker/token-store/memory";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { openLinkingFixture } from "../../testing/linking/fixture.ts";
import { OTHER } from "../../testing/server-fixture.ts";
import { overwriteRow } from "../../testing/record-stores.ts";
import { atVendor, endLink } from "./link.ts";

/** Called before a write to the token table. */
let beforeChange: () => Promise<unknown>;
const rows = ofEachTest(memoryTokenRows);
const fixture = ofEachTest(() =>
  openLinkingFixture({
    rows: {
      ...rows,
      change: async (...args) => {
        const run = beforeChange;
        beforeChange = async () => undefined;
        await run();
        return rows.change(...args);
      },
    },
  }),
);
const visitor = ofEachTest(() => fixture.signedIn());
beforeEach(() => {
  beforeChange = async () => undefined;
});

const SIGN_IN = { vendor: "home" } as const;
const rowKey = { pk: "USER#user", sk: "VENDOR#home" };
const codeIn = (url: URL): string => url.searchParams.get("code") ?? "none";
const disconnect = async () => visitor.press(await visitor.open("/connections"), "disconnect", SIGN_IN);
const endAtOnce = () => endLink("user", atVendor("home", fixture));
/** A sign-in up to the vendor's redirect. */
const begin = async (client: Readonly<Record<string, string>> = {}) => {
  const browser = fixture.browser();
  const back = await browser.consent(await browser.approve(client));
  const forgetMilliseconds = async () => {
    const [id = ""] = (back.searchParams.get("state") ?? "").split(".");
    const key = { kind: "authorization", id };
    await overwriteRow(fixture.records, key, ({ startedAtMilliseconds: _m, ...data }) => data);
  };
  return { finish: async () => codeIn(await browser.finish(back)), forgetMilliseconds };
};
const signIn = async () => fixture.redeem(await (await begin()).finish());

describe("bar#LK-9 a disconnect while the user signs in at a client", () => {
  it.each(["before the callback", "before the code is redeemed"])("%s: a session, and no link", async (when) => {
    await signIn();
    const flow = await begin();
    if (when === "before the callback") await disconnect();
    const code = await flow.finish();
    if (when !== "before the callback") await disconnect();
    const { status, body } = await fixture.redeem(code);
    expect([status, await fixture.linked("home")]).toEqual([200, undefined]);
    // Those of the link, and those that were dropped.
    expect(fixture.revocations("home")).toBe(2);
    const links = (await fixture.authenticate(body["access_token"] ?? ""))?.links;
    expect(await links?.read("home")).toEqual({ state: "missing" });
  });

  it("where there was no link before", async () => {
    const flow = await begin();
    await endAtOnce();
    expect((await fixture.redeem(await flow.finish())).status).toBe(200);
    expect(await fixture.linked("home")).toBeUndefined();
  });

  it("between the read of the link and the write over it", async () => {
    await signIn();
    fixture.clock.advance(1);
    const code = await (await begin()).finish();
    beforeChange = endAtOnce;
    expect((await fixture.redeem(code)).status).toBe(200);
    expect(await fixture.linked("home")).toBeUndefined();
  });

  it("and a new link after it: that one stays, here and at the vendor", async () => {
    await signIn();
    const code = await (await begin()).finish();
    const page = await disconnect();
    await visitor.press(page, "connect", SIGN_IN);
    const [linked, revoked] = [await fixture.linked("home"), fixture.revocations("home")];
    expect((await fixture.redeem(code)).status).toBe(200);
    expect(await fixture.linked("home")).toBe(linked);
    expect([linked === undefined, fixture.revocations("home")]).toEqual([false, revoked]);
  });
});

describe("a sign-in at a client links", () => {
  it.each([1, 0.002])("after a disconnect that came %d s before it began", async (seconds) => {
    await signIn();
    await disconnect();
    fixture.clock.advance(seconds);
    await signIn();
    expect(await fixture.linked("home")).toBeDefined();
  });

  it("not before a disconnect in its second, where an earlier release wrote one of the two times", async () => {
    for (const isOfFlow of [true, false]) {
      const flow = await begin();
      await endAtOnce();
      if (isOfFlow) await flow.forgetMilliseconds();
      else await rows.change(rowKey, { set: {}, remove: ["link_ended_at_ms"] }, {});
      expect((await fixture.redeem(await flow.finish())).status).toBe(200);
      expect(await fixture.linked("home")).toBeUndefined();
      fixture.clock.advance(1);
    }
  });

  it("or fails, and then does not end the link there is, here or at the vendor", async () => {
    await signIn();
    const [linked, code] = [await fixture.linked("home"), await (await begin()).finish()];
    beforeChange = async () => {
      throw new Error("the table took it, or did not");
    };
    expect((await fixture.redeem(code)).status).toBeGreaterThanOrEqual(500);
    expect(await fixture.linked("home")).toBe(linked);
    // Long enough for a revocation.
    await signIn();
    expect(fixture.revocations("home")).toBe(0);
  });

  it("beside the sign-in of another client at the same time", async () => {
    const { clientId, redirectUris } = OTHER;
    const other = { client_id: clientId, redirect_uri: redirectUris[0] };
    const codes = [await (await begin()).finish(), await (await begin(other)).finish()];
    const answers = await Promise.all([fixture.redeem(codes[0]), fixture.redeem(codes[1], other)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await fixture.linked("home")).toBeDefined();
    expect(fixture.revocations("home")).toBe(0);
  });
});
