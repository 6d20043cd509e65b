/**
 * The session of a browser: a random cookie, whose hash is stored. Another user in the same browser
 * gets another cookie, so that a flow that one user started cannot be finished for the other.
 */
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { type BindingCookie, hashOf } from "@oauth-broker/oauth-core/server";
import { findUser, type User } from "./users.ts";

export interface SignedIn {
  readonly user: User;
  /** The hash of the cookie, which records may contain. */
  readonly sessionId: string;
  /** For the tokens of forms. */
  readonly cookie: BindingCookie;
}

export interface Sessions {
  /** The cookie of a browser, signed in or not. */
  cookieOf(header: string | undefined): BindingCookie | undefined;
  find(header: string | undefined): Promise<SignedIn | undefined>;
  /** A fresh cookie for a browser without one, so that its forms can carry a token. */
  greet(): { readonly cookie: BindingCookie; readonly setCookie: string };
  /** @returns the Set-Cookie header of a new session */
  signIn(user: User): Promise<string>;
  signOut(session: SignedIn): Promise<string>;
}

const KIND = "browser-session";
const SESSION_SECONDS = 12 * 3600;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** @param deps.isHttps binds the cookie to exactly this host */
export function createSessions({
  records,
  now,
  isHttps,
}: {
  readonly records: RecordStore;
  readonly now: Clock;
  readonly isHttps: boolean;
}): Sessions {
  const name = isHttps ? "__Host-platform-session" : "platform-session";
  const header = (value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
  const cookieOf: Sessions["cookieOf"] = (sent) => {
    const pair = sent?.split("; ").find((part) => part.startsWith(`${name}=`));
    const value = pair?.slice(name.length + 1) ?? "";
    return VALUE.test(value) ? { value, hash: hashOf(value) } : undefined;
  };
  return {
    cookieOf,
    find: async (sent) => {
      const cookie = cookieOf(sent);
      const record = cookie && (await records.get({ kind: KIND, id: cookie.hash }));
      const user = findUser(record?.data["user"] as string | undefined);
      return cookie === undefined || user === undefined ? undefined : { user, sessionId: cookie.hash, cookie };
    },
    greet: () => {
      const value = randomToken(32);
      return { cookie: { value, hash: hashOf(value) }, setCookie: header(value, SESSION_SECONDS) };
    },
    signIn: async (user) => {
      const value = randomToken(32);
      const data = { v: 1, user: user.id };
      const key = { kind: KIND, id: hashOf(value) };
      await records.create({ key, stage: "signed-in", data, expiresAt: now() + SESSION_SECONDS });
      return header(value, SESSION_SECONDS);
    },
    signOut: async ({ sessionId }) => {
      await records.delete({ kind: KIND, id: sessionId });
      return header("", 0);
    },
  };
}
