/** A token store of a server with several vendors: users sign in at `home` and link `chat`. */
import { type Clock, Secret, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { onTestFinished } from "vitest";
import { memoryTokenRows } from "../../storage/memory/token-rows.ts";
import type { TokenRows } from "../../storage/token-rows.ts";
import { createTokenStore, type TokenStore } from "../../token-store.ts";
import type { ModeName } from "../../tokens/token-attributes.ts";
import type { LinkDetails, SignIn, TokenKey, TokenSet } from "../../tokens/tokens.ts";
import { countingWrapper } from "../aws/counting-wrapper.ts";
import { NOW } from "../cli-fixture.ts";

export const SIGN_IN: SignIn = { vendor: "home", issuer: "https://home.example" };
export const OTHER_SIGN_IN: SignIn = { vendor: "home", issuer: "https://another.example" };
export const CHAT: TokenKey = { user: "u1", vendor: "chat", issuer: "https://chat.example", signIn: SIGN_IN };
export const DETAILS: LinkDetails = {
  account: "C7",
  label: new Secret("ada@chat.example"),
  linkedAt: NOW,
  notGranted: ["post"],
  lacked: {},
};

export const tokensOf = (name: string, link?: LinkDetails): TokenSet => ({
  accessToken: new Secret(`at-${name}`),
  refreshToken: new Secret(`rt-${name}`),
  tokenType: "Bearer",
  ...(link === undefined ? {} : { link }),
});

export interface LinksFixture {
  readonly store: TokenStore;
  readonly rows: TokenRows;
  readonly clock: Clock & { advance(seconds: number): void };
}

export function linksFixture({
  rows = memoryTokenRows(),
  mode = "bridge",
  keyless = false,
}: {
  readonly rows?: TokenRows;
  readonly mode?: ModeName;
  readonly keyless?: boolean;
}): LinksFixture {
  const clock = fixedClock(NOW);
  const keys = keyless ? undefined : countingWrapper().keys;
  const store = createTokenStore({ rows, timer: systemTimer, keys, mode, environment: "test", now: clock });
  onTestFinished(() => store.close(0));
  return { store, rows, clock };
}

export async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The access token of what a call of `endLink` ended. */
export async function endedToken(ended: ReturnType<TokenStore["endLink"]>): Promise<string | undefined> {
  const stored = await ended;
  return typeof stored === "object" ? stored.tokens.accessToken.reveal() : stored;
}
