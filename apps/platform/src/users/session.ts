/**
 * The session of a browser: a random cookie, whose hash is stored. Another user in the same browser
 * gets another cookie, so that a flow that one user started cannot be finished for the other.
 */
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { type BindingCookie, createBindingCookie, formatCookie, readCookie } from "@oauth-broker/oauth-core/server";
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

/**
 * @param platformUrl an https one binds the cookie to exactly this host. Browsers do not keep
 *   the cookies of two ports apart, so the name of other ones does
 */
export function createSessions(
  platformUrl: string,
  { records, now }: { readonly records: RecordStore; readonly now: Clock },
): Sessions {
  const { protocol, port } = new URL(platformUrl);
  const name = protocol === "https:" ? "__Host-platform-session" : `platform-session${port === "" ? "" : `-${port}`}`;
  const cookieOf: Sessions["cookieOf"] = (sent) => readCookie(sent, name);
  return {
    cookieOf,
    find: async (sent) => {
      const cookie = cookieOf(sent);
      const record = cookie && (await records.get({ kind: KIND, id: cookie.hash }));
      const user = findUser(record?.data["user"] as string | undefined);
      return cookie === undefined || user === undefined ? undefined : { user, sessionId: cookie.hash, cookie };
    },
    greet: () => {
      const cookie = createBindingCookie();
      return { cookie, setCookie: formatCookie(name, cookie.value, SESSION_SECONDS) };
    },
    signIn: async (user) => {
      const { value, hash } = createBindingCookie();
      const data = { v: 1, user: user.id };
      const key = { kind: KIND, id: hash };
      await records.create({ key, stage: "signed-in", data, expiresAt: now() + SESSION_SECONDS });
      return formatCookie(name, value, SESSION_SECONDS);
    },
    signOut: async ({ sessionId }) => {
      await records.delete({ kind: KIND, id: sessionId });
      return formatCookie(name, "", 0);
    },
  };
}
