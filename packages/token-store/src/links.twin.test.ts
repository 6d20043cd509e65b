/** The twins of links.test.ts: with one defence off, the attack succeeds. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type * as Envelope from "./crypto/envelope.ts";

beforeEach(() => vi.resetModules());
afterEach(() => {
  vi.doUnmock("./crypto/envelope.ts");
  vi.doUnmock("./tokens/link-attributes.ts");
  vi.doUnmock("./tokens/row-conditions.ts");
});

/** The parts of a field's place before the sign-in. */
const WITHOUT_SIGN_IN = 10;

it("a link moved to another sign-in opens without authentication (twin of bar#TS-3)", async () => {
  vi.doMock("./crypto/envelope.ts", async (original) => {
    const real = await original<typeof Envelope>();
    const cut = (context: readonly string[]): readonly string[] => context.slice(0, WITHOUT_SIGN_IN);
    return {
      ...real,
      envelopesUnder: (key: Buffer) => {
        const { seal, open } = real.envelopesUnder(key);
        return {
          seal: (text: string, context: readonly string[]) => seal(text, cut(context)),
          open: (sealed: string, context: readonly string[]) => open(sealed, cut(context)),
        };
      },
    };
  });
  const { CHAT, linksFixture, OTHER_SIGN_IN, tokensOf } = await import("./testing/rows/links-fixture.ts");
  const { rowKeyOf } = await import("./tokens/token-attributes.ts");
  const { store, rows, close } = linksFixture({ mode: "encrypted" });
  await store.link(CHAT, tokensOf("victim"), 0);
  const { vendor: sign_in_vendor, issuer: sign_in_issuer } = OTHER_SIGN_IN;
  await rows.change(rowKeyOf(CHAT), { set: { sign_in_vendor, sign_in_issuer } }, {});
  const theirs = await store.get({ ...CHAT, signIn: OTHER_SIGN_IN });
  expect(theirs?.tokens.accessToken.reveal()).toBe("at-victim");
  await close();
});

it("without the comparison of sign-ins another person's link is the user's, and is overwritten", async () => {
  vi.doMock("./tokens/link-attributes.ts", async (original) => ({
    ...(await original<object>()),
    isForeign: () => false,
  }));
  const { CHAT, linksFixture, tokensOf } = await import("./testing/rows/links-fixture.ts");
  const { store, close } = linksFixture({ mode: "encrypted" });
  const { signIn: _, ...before } = CHAT;
  await store.put(before, tokensOf("theirs"));
  expect((await store.get(CHAT))?.tokens.accessToken.reveal()).toBe("at-theirs");
  expect(await store.link(CHAT, tokensOf("mine"), 0)).toMatchObject({ status: "active" });
  await close();
});

it("without the comparison of versions a callback undoes a disconnect", async () => {
  vi.doMock("./tokens/row-conditions.ts", async (original) => ({
    ...(await original<object>()),
    linkVersionOf: () => 0,
  }));
  const { CHAT, linksFixture, tokensOf } = await import("./testing/rows/links-fixture.ts");
  const { store, close } = linksFixture({});
  await store.link(CHAT, tokensOf("1"), 0);
  await store.endLink(CHAT);
  expect(await store.link(CHAT, tokensOf("late"), 0)).toMatchObject({ status: "active" });
  await close();
});
