/**
 * The session of a browser: a random cookie, whose hash is stored. Another user in the same browser
 * gets another cookie, so that a flow that one user started cannot be finished for the other.
 */
import {
  type BindingCookie,
  createBindingCookie,
  formatCookie,
  readCookie,
} from "@oauth-broker/oauth-core/authorization-server";
import type { SealedStore } from "../connectors/connector-secrets.ts";
import { findUser, type User } from "./users.ts";

export interface SignedIn {
  readonly user: User;
  /** The hash of the cookie, which records may contain. */
  readonly sessionId: string;
  /** For the tokens of forms. */
  readonly cookie: BindingCookie;
}

export type Sessions = ReturnType<typeof createSessions>;

const KIND = "browser-session";
const SESSION_SECONDS = 12 * 3600;

/**
 * @param platformUrl an https one binds the cookie to exactly this host. Browsers do not keep
 *   the cookies of two ports apart, so the name of other ones does
 */
export function createSessions(platformUrl: string, { records, now }: Pick<SealedStore, "records" | "now">) {
  const { protocol, port } = new URL(platformUrl);
  const name = protocol === "https:" ? "__Host-platform-session" : `platform-session${port === "" ? "" : `-${port}`}`;
  const cookieOf = (sent: string | undefined): BindingCookie | undefined => readCookie(sent, name);
  return {
    /** The cookie of a browser, signed in or not. */
    cookieOf,
    find: async (sent: string | undefined): Promise<SignedIn | undefined> => {
      const cookie = cookieOf(sent);
      const record = cookie && (await records.get({ kind: KIND, id: cookie.hash }));
      const user = findUser(record?.data["user"] as string | undefined);
      return cookie === undefined || user === undefined ? undefined : { user, sessionId: cookie.hash, cookie };
    },
    /** A fresh cookie for a browser without one, so that its forms can carry a token. */
    greet: () => {
      const cookie = createBindingCookie();
      return { cookie, setCookie: formatCookie(name, cookie.value, SESSION_SECONDS) };
    },
    /** @returns the Set-Cookie header of a new session */
    signIn: async (user: User): Promise<string> => {
      const { value, hash } = createBindingCookie();
      const data = { v: 1, user: user.id };
      const key = { kind: KIND, id: hash };
      await records.create({ key, stage: "signed-in", data, expiresAt: now() + SESSION_SECONDS });
      return formatCookie(name, value, SESSION_SECONDS);
    },
    signOut: async ({ sessionId }: SignedIn): Promise<string> => {
      await records.delete({ kind: KIND, id: sessionId });
      return formatCookie(name, "", 0);
    },
  };
}
