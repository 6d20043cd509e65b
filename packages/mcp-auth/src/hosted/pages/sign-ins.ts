/**
 * Who is at the browser: the pages' own sign-in, which has nothing to do with MCP sessions. A cookie
 * names a record under its hash; the vendor's tokens only named the user and are not kept. `/mcp`
 * and `/token` do not read it.
 */
import type { EpochSeconds, JsonObject, RecordKey, StoredRecord } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import {
  type BindingCookie,
  createBindingCookie,
  formatCookie,
  hashOf,
  readCookie,
} from "@oauth-broker/oauth-core/authorization-server";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import { changeRecord } from "@oauth-broker/service";
import { isOfPresentSignIn, type OfSignIn } from "../sessions/sign-in-generation.ts";
import type { TicketsDeps } from "../tickets/tickets.ts";
import { isSameSource } from "../records/identity-source.ts";
import { derivedName } from "../records/server-key.ts";

export const SIGN_IN_SECONDS = 12 * 3600;
const ROUNDS = 20;

export interface SignedIn {
  /** Stable identity at the sign-in vendor. */
  readonly user: string;
  /** The account as its user knows it; untrusted. */
  readonly label: string;
  readonly cookie: BindingCookie;
}

/** All methods throw OAuthError temporarily_unavailable. */
export interface SignIns {
  /** @param cookieHeader as received */
  read(cookieHeader: string | undefined): Promise<SignedIn | undefined>;
  /** @returns Set-Cookie: a value that no browser had before */
  start(user: string, label: string): Promise<string>;
  /** @returns Set-Cookie that ends the browser's cookie */
  end(signedIn: SignedIn | undefined): Promise<string>;
  /** Every browser of the user. */
  endAll(user: string): Promise<void>;
}

/** A cookie of another sign-in vendor's user is not accepted: `source`. */
export type SignInsDeps = Omit<TicketsDeps, "links">;

type SignInData = OfSignIn & {
  readonly v: 1;
  readonly vendor: string;
  readonly issuer: string;
  readonly user: string;
  /** The label, under a key derived from the server key. */
  readonly sealed: string;
  readonly startedAt: EpochSeconds;
  /**
   * As in the user's `sign-in-end` when it began: without that record, or with another value in
   * it, it has ended. Absent in rows of earlier releases.
   */
  readonly since?: string;
};

export function createSignIns(deps: SignInsDeps): SignIns {
  const { records, now, source, deploymentUrl } = deps;
  const name = cookieName(deploymentUrl);
  const labelKey = async (): Promise<Buffer> => deriveKey(await deps.serverKey.derive("sign-in"), "label");
  /** Kept for as long as a sign-in that begins now. */
  const changeEnd = async (user: string, decide: (present: JsonObject | undefined) => LastEnd): Promise<LastEnd> =>
    changeRecord(await endKey(user, deps), {
      records,
      rounds: ROUNDS,
      busy: "The user's sign-ins are being changed",
      decide: (present) => {
        const result = decide(present);
        return { next: { data: { v: 1, ...result }, expiresAt: now() + SIGN_IN_SECONDS }, result };
      },
    });

  return {
    read: async (cookieHeader) => {
      const cookie = readCookie(cookieHeader, name);
      const record = cookie === undefined ? undefined : await records.get(keyOf(cookie.hash));
      if (cookie === undefined || record === undefined || record.data["v"] !== 1) return undefined;
      const signIn = record.data as SignInData;
      if (!isSameSource(signIn, source) || !(await isOfPresentSignIn(signIn, deps))) return undefined;
      const { user, sealed } = signIn;
      if (hasEnded(signIn, await records.get(await endKey(user, deps)))) return undefined;
      return { user, cookie, label: open(await labelKey(), sealed, ["sign-in", cookie.hash]).toString("utf8") };
    },

    //= bar#AS-8
    start: async (user, label) => {
      const { value, hash } = createBindingCookie();
      const sealed = seal(await labelKey(), label, ["sign-in", hash]);
      const expiresAt = now() + SIGN_IN_SECONDS;
      const { since, endedAt } = await changeEnd(user, (present) => ({
        since: typeof present?.["since"] === "string" ? present["since"] : randomToken(16),
        endedAt: endedAtIn(present),
      }));
      // Later than the end, also in its second.
      const startedAt = Math.max(now(), endedAt + 1);
      const signInGeneration = await deps.signInGeneration();
      const data: SignInData = { v: 1, ...source, signInGeneration, user, sealed, startedAt, since };
      await records.create({ key: keyOf(hash), stage: "live", data, expiresAt });
      return formatCookie(name, value, SIGN_IN_SECONDS);
    },

    end: async (signedIn) => {
      if (signedIn !== undefined) await records.delete(keyOf(signedIn.cookie.hash));
      return formatCookie(name, "", 0);
    },

    endAll: async (user) => {
      await changeEnd(user, (present) => ({ since: randomToken(16), endedAt: Math.max(now(), endedAtIn(present)) }));
    },
  };
}

/** `__Host-` keeps a sibling subdomain from planting one; on loopback all ports share cookies. */
function cookieName(deploymentUrl: string): string {
  return deploymentUrl.startsWith("https:") ? "__Host-sign-in" : `sign-in-${hashOf(deploymentUrl)}`;
}

/** Whether the browser is that of a ticket's or flow's user. */
//= bar#CB-7
export function isOfUser(user: string | undefined, signedIn: SignedIn | undefined): signedIn is SignedIn {
  //= bar#LK-2
  return signedIn !== undefined && signedIn.user === user;
}

function keyOf(hash: string): RecordKey {
  return { kind: "sign-in", id: hash };
}

/** What a sign-in is compared with: a row that exists, so that removing it revives none. */
interface LastEnd {
  readonly since: string;
  readonly endedAt: EpochSeconds;
}

function hasEnded({ since, startedAt }: SignInData, end: StoredRecord | undefined): boolean {
  //= bar#TS-19
  return startedAt <= endedAtIn(end?.data) || (since !== undefined && end?.data["since"] !== since);
}

/** @returns the second up to which the user's sign-ins are ended; 0: none are */
function endedAtIn(end: JsonObject | undefined): EpochSeconds {
  const endedAt = end?.["endedAt"];
  return typeof endedAt === "number" ? endedAt : 0;
}

async function endKey(user: string, deps: SignInsDeps): Promise<RecordKey> {
  const { source, deploymentUrl } = deps;
  const of = [deploymentUrl, source.vendor, source.issuer, user];
  return { kind: "sign-in-end", id: await derivedName("sign-in-ends", of, deps) };
}
