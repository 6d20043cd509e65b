/** The twins of links.test.ts: with one defence off, the attack succeeds. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as envelopes from "./crypto/envelope.ts";
import { CHAT, linksFixture, OTHER_SIGN_IN, tokensOf } from "./testing/rows/links-fixture.ts";
import * as attributes from "./tokens/link-attributes.ts";
import * as conditions from "./tokens/row-conditions.ts";
import { rowKeyOf } from "./tokens/token-attributes.ts";

/** The parts of a field's place before the sign-in. */
const WITHOUT_SIGN_IN = 10;

it("a link moved to another sign-in opens without authentication (twin of bar#TS-3)", async () => {
  const cut = (context: readonly string[]): readonly string[] => context.slice(0, WITHOUT_SIGN_IN);
  weaken(envelopes, ({ envelopesUnder }) => ({
    envelopesUnder: (key) => {
      const { seal, open } = envelopesUnder(key);
      return {
        seal: (text, context) => seal(text, cut(context)),
        open: (sealed, context) => open(sealed, cut(context)),
      };
    },
  }));
  const { store, rows } = linksFixture({ mode: "encrypted" });
  await store.link(CHAT, tokensOf("victim"), 0);
  const { vendor: sign_in_vendor, issuer: sign_in_issuer } = OTHER_SIGN_IN;
  await rows.change(rowKeyOf(CHAT), { set: { sign_in_vendor, sign_in_issuer } }, {});
  const theirs = await store.get({ ...CHAT, signIn: OTHER_SIGN_IN });
  expect(theirs?.tokens.accessToken.reveal()).toBe("at-victim");
});

it("without the comparison of sign-ins another person's link is the user's, and is overwritten", async () => {
  weaken(attributes, () => ({ isForeign: () => false }));
  const { store } = linksFixture({ mode: "encrypted" });
  const { signIn: _, ...before } = CHAT;
  await store.put(before, tokensOf("theirs"));
  expect((await store.get(CHAT))?.tokens.accessToken.reveal()).toBe("at-theirs");
  expect(await store.link(CHAT, tokensOf("mine"), 0)).toMatchObject({ status: "active" });
});

it("without the comparison of versions a callback undoes a disconnect", async () => {
  weaken(conditions, () => ({ linkVersionOf: () => 0 }));
  const { store } = linksFixture({});
  await store.link(CHAT, tokensOf("1"), 0);
  await store.endLink(CHAT);
  expect(await store.link(CHAT, tokensOf("late"), 0)).toMatchObject({ status: "active" });
});
