/**
 * Who is at the browser: the pages' own sign-in, which has nothing to do with MCP sessions. A cookie
 * names a record under its hash; the vendor's tokens only named the user and are not kept. `/mcp`
 * and `/token` do not read it.
 */
import {
  type Clock,
  type EpochSeconds,
  hmacSha256,
  type RecordKey,
  type RecordStore,
  type StoredRecord,
} from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import {
  type BindingCookie,
  createBindingCookie,
  formatCookie,
  hashOf,
  readCookie,
} from "@oauth-broker/oauth-core/server";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import { changeRecord } from "../change-record.ts";
import type { ServerKey } from "../server-key.ts";
import { type IdentitySource, isSameSource } from "../vendor-links/identity-source.ts";

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

export interface SignInsDeps {
  readonly records: RecordStore;
  readonly serverKey: ServerKey;
  readonly now: Clock;
  readonly deploymentUrl: string;
  /** Where users sign in: a cookie of another vendor's user does not count. */
  readonly source: IdentitySource;
}

type SignInData = {
  readonly v: 1;
  readonly vendor: string;
  readonly issuer: string;
  readonly user: string;
  /** The label, under a key derived from the server key. */
  readonly sealed: string;
  readonly startedAt: EpochSeconds;
};

export function createSignIns(deps: SignInsDeps): SignIns {
  const { records, now, source, deploymentUrl } = deps;
  const name = cookieName(deploymentUrl);
  const labelKey = async (): Promise<Buffer> => deriveKey(await deps.serverKey.derive("sign-in"), "label");

  return {
    read: async (cookieHeader) => {
      const cookie = readCookie(cookieHeader, name);
      const record = cookie === undefined ? undefined : await records.get(keyOf(cookie.hash));
      if (cookie === undefined || record === undefined || record.data["v"] !== 1) return undefined;
      const { user, sealed, startedAt, ...made } = record.data as SignInData;
      if (!isSameSource(made, source)) return undefined;
      if (startedAt <= lastEnd(await records.get(await endKey(user, deps)))) return undefined;
      return { user, cookie, label: open(await labelKey(), sealed, ["sign-in", cookie.hash]).toString("utf8") };
    },

    //= bar#AS-8
    start: async (user, label) => {
      const { value, hash } = createBindingCookie();
      const sealed = seal(await labelKey(), label, ["sign-in", hash]);
      // In the second of an end too: a browser that was not signed in then would be sent to sign in
      // again at once, and so on.
      const startedAt = Math.max(now(), lastEnd(await records.get(await endKey(user, deps))) + 1);
      const data: SignInData = { v: 1, ...source, user, sealed, startedAt };
      await records.create({ key: keyOf(hash), stage: "live", data, expiresAt: now() + SIGN_IN_SECONDS });
      return formatCookie(name, value, SIGN_IN_SECONDS);
    },

    end: async (signedIn) => {
      if (signedIn !== undefined) await records.delete(keyOf(signedIn.cookie.hash));
      return formatCookie(name, "", 0);
    },

    endAll: async (user) =>
      changeRecord(await endKey(user, deps), {
        records,
        stage: "kept",
        version: "revision",
        rounds: ROUNDS,
        busy: "The user's sign-ins are being changed",
        decide: (present) => {
          // After every sign-in that was started after the end before.
          const endedAt = Math.max(now(), lastEnd({ data: present ?? {} }) + 1);
          const data = { v: 1, revision: randomToken(16), endedAt };
          return { next: { data, expiresAt: now() + SIGN_IN_SECONDS }, result: undefined };
        },
      }),
  };
}

/** `__Host-` keeps a sibling subdomain from planting one; on loopback all ports share cookies. */
function cookieName(deploymentUrl: string): string {
  return deploymentUrl.startsWith("https:") ? "__Host-sign-in" : `sign-in-${hashOf(deploymentUrl)}`;
}

/** Whether the browser is that of a ticket's or flow's user. */
//= bar#CB-7
export function isOfUser(user: string | undefined, signedIn: SignedIn | undefined): signedIn is SignedIn {
  return signedIn !== undefined && signedIn.user === user;
}

function keyOf(hash: string): RecordKey {
  return { kind: "sign-in", id: hash };
}

/** @returns the second up to which the user's sign-ins are ended; 0: none are */
function lastEnd(record: Pick<StoredRecord, "data"> | undefined): EpochSeconds {
  const { endedAt } = record?.data ?? {};
  return typeof endedAt === "number" ? endedAt : 0;
}

/** Derived, so that it does not reveal the user. */
async function endKey(user: string, { serverKey, source, deploymentUrl }: SignInsDeps): Promise<RecordKey> {
  const key = await serverKey.derive("sign-in-ends");
  const name = JSON.stringify([deploymentUrl, source.vendor, source.issuer, user]);
  return { kind: "sign-in-end", id: hmacSha256(key, name).toString("base64url") };
}
