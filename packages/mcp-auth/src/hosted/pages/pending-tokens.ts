/**
 * Tokens that wait for a yes: another account than the linked one, or fewer scopes than the link
 * has. They wait sealed under the server key and the cookie of the browser that brought them, at
 * most five minutes. What no user answers is ended by a sweep, which any process does.
 */
import {
  defined,
  type EpochSeconds,
  OAuthError,
  type RecordKey,
  Secret,
  type StoredRecord,
} from "@oauth-broker/oauth-core";
import { isSameText, randomToken } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { deriveKey, open, seal, type TokenSet } from "@oauth-broker/token-store";
import { changeRecord } from "@oauth-broker/service";
import type { TicketsDeps } from "../tickets/tickets.ts";
import { isSameSource } from "../records/identity-source.ts";

export const PENDING_SECONDS = 300;
/** The sweep finds a record for longer than it can be answered. */
const KEPT_SECONDS = 3600;
/**
 * `waiting`: of all users together, without those that are due. `ofUser`: one more ends their oldest.
 * `listed`: with those that are due: their end may be slow, and the record has to fit the store.
 */
export const PENDING_LIMITS: Readonly<Record<"waiting" | "ofUser" | "listed", number>> = {
  waiting: 1000,
  ofUser: 5,
  listed: 3000,
};
const ROUNDS = 50;

export interface PendingLink {
  readonly user: string;
  /** The vendor as `VENDORS` lists it. */
  readonly vendor: string;
  readonly linkVersion: number;
  /** Whether the account is another than the linked one; else it only has fewer scopes. */
  readonly isOther: boolean;
  readonly tokens: TokenSet;
  readonly ticketId?: string;
}

/** A question that waits, for the page that shows it. */
export interface WaitingLink extends PendingLink {
  readonly id: string;
}

/** All methods throw OAuthError temporarily_unavailable. */
export interface PendingTokens {
  /**
   * Replaces the question that waits in this browser for this vendor, and the user's oldest one
   * if they have too many.
   *
   * @param cookieHash of the browser
   * @returns those replaced, whose tokens the caller discards
   */
  ask(pending: PendingLink, cookieHash: string): Promise<readonly WaitingLink[]>;
  find(vendor: string, cookieHash: string): Promise<WaitingLink | undefined>;
  /** @returns false when it was answered or swept before: of any number of tries one answers */
  take(id: string, cookieHash: string): Promise<boolean>;
  /** What was not answered in time and waits for a sweep. */
  due(): Promise<readonly DueLink[]>;
  /**
   * @returns the question, whose tokens the caller discards; undefined when another process took it
   * @throws TokenStoreError, too: it cannot be opened, and expires
   */
  takeDue(due: DueLink): Promise<WaitingLink | undefined>;
}

export interface DueLink {
  readonly id: string;
  readonly vendor: string;
}

export type PendingTokensDeps = Pick<TicketsDeps, "records" | "serverKey" | "now" | "source">;

type PendingData = Omit<PendingLink, "tokens"> & {
  readonly v: 1;
  readonly cookieHash: string;
  readonly signIn: string;
  readonly issuer: string;
  readonly sealed: string;
  readonly until: EpochSeconds;
};

type Pointer = { readonly v: 1; readonly question: string };

type Waiting = {
  readonly id: string;
  readonly until: EpochSeconds;
  /** A hash of the user. Absent in entries of the release before. */
  readonly owner?: string;
};

/** Two users with one owner would share their places. */
const OWNER_CHARACTERS = 16;
const INDEX: RecordKey = { kind: "link-questions", id: "all" };

/** @param limits tests pass smaller ones */
export function createPendingTokens(deps: PendingTokensDeps, limits = PENDING_LIMITS): PendingTokens {
  const { records, now, source } = deps;

  const openPending = async ({ key: { id }, data }: StoredRecord): Promise<WaitingLink> => {
    const { user, vendor, linkVersion, isOther, sealed, ticketId, cookieHash } = data as PendingData;
    const text = open(await sealingKey(cookieHash, deps), sealed, ["link-question", id]).toString("utf8");
    return { id, user, vendor, linkVersion, isOther, tokens: toTokens(text), ...defined({ ticketId }) };
  };
  const waitingIn = async (vendor: string, cookieHash: string): Promise<StoredRecord | undefined> => {
    const pointer = await records.get(pointerKey(vendor, cookieHash));
    const record = pointer === undefined ? undefined : await records.get(keyOf((pointer.data as Pointer).question));
    if (record?.stage !== "waiting" || record.data["v"] !== 1) return undefined;
    const { signIn, issuer, cookieHash: ofBrowser } = record.data as PendingData;
    return isSameText(ofBrowser, cookieHash) && isSameSource({ vendor: signIn, issuer }, source) ? record : undefined;
  };
  const changeIndex = async (decide: (waiting: readonly Waiting[]) => readonly Waiting[]): Promise<void> =>
    changeRecord(INDEX, {
      records,
      rounds: ROUNDS,
      busy: "The question cannot be kept now",
      decide: (data) => {
        const waiting = decide((data?.["waiting"] ?? []) as readonly Waiting[]);
        const expiresAt = now() + KEPT_SECONDS;
        return { next: { data: { v: 1, waiting }, expiresAt }, result: undefined };
      },
    });

  const take = async (id: string, cookieHash: string): Promise<boolean> => {
    const from = { stage: "waiting", expect: { cookieHash } };
    const { outcome } = await records.advance(keyOf(id), from, { stage: "over", set: {}, remove: ["sealed"] });
    if (outcome !== "moved") return false;
    // Its place is free for another at once, or when it is due.
    await changeIndex((waiting) => waiting.filter((other) => other.id !== id)).catch(requireOutage);
    return true;
  };

  const endedOf = async (record: StoredRecord): Promise<WaitingLink | undefined> => {
    const pending = await openPending(record);
    return (await take(pending.id, (record.data as PendingData).cookieHash)) ? pending : undefined;
  };
  const takeDue = async (id: string): Promise<WaitingLink | undefined> => {
    const record = await records.get(keyOf(id));
    return record?.stage === "waiting" ? endedOf(record) : undefined;
  };

  return {
    ask: async ({ tokens, ...asked }, cookieHash) => {
      const id = randomToken(16);
      const until = now() + PENDING_SECONDS;
      const sealed = seal(await sealingKey(cookieHash, deps), toText(tokens), ["link-question", id]);
      const { vendor: signIn, issuer } = source;
      const data: PendingData = { ...asked, v: 1, cookieHash, signIn, issuer, sealed, until };
      const owner = hashOf(JSON.stringify([signIn, issuer, asked.user])).slice(0, OWNER_CHARACTERS);
      let tooMany: readonly Waiting[] = [];
      // First: tokens that the index does not name would not be revoked.
      await changeIndex((listed) => {
        const open = listed.filter((other) => other.until > now());
        const own = open.filter((other) => other.owner === owner);
        tooMany = own.slice(0, Math.max(0, own.length + 1 - limits.ofUser));
        if (open.length - tooMany.length >= limits.waiting || listed.length >= limits.listed) {
          throw new OAuthError("temporarily_unavailable", "Too many questions are waiting");
        }
        // Due, so that a sweep ends them if this process does not.
        const ended = listed.map((other) => (tooMany.includes(other) ? { ...other, until: now() } : other));
        return [...ended, { id, until, owner }];
      });
      await records.create({ key: keyOf(id), stage: "waiting", data, expiresAt: now() + KEPT_SECONDS });
      const before = await waitingIn(asked.vendor, cookieHash);
      const key = pointerKey(asked.vendor, cookieHash);
      await records.delete(key);
      await records.create({ key, stage: "kept", data: { v: 1, question: id }, expiresAt: until });
      const replaced = before === undefined ? [] : [await endedOf(before)];
      for (const one of tooMany) replaced.push(await takeDue(one.id));
      return replaced.filter((one) => one !== undefined);
    },

    find: async (vendor, cookieHash) => {
      // For five minutes: the pointer to it expires.
      const record = await waitingIn(vendor, cookieHash);
      return record === undefined ? undefined : openPending(record);
    },

    take,

    due: async () => {
      const index = await records.get(INDEX);
      const listed = ((index?.data["waiting"] ?? []) as readonly Waiting[]).filter(({ until }) => until <= now());
      const due: DueLink[] = [];
      const over = new Set<string>();
      for (const { id } of listed) {
        const record = await records.get(keyOf(id));
        if (record?.stage === "waiting") due.push({ id, vendor: (record.data as PendingData).vendor });
        else over.add(id);
      }
      if (over.size > 0) await changeIndex((waiting) => waiting.filter(({ id }) => !over.has(id)));
      return due;
    },

    takeDue: ({ id }) => takeDue(id),
  };
}

/** @throws the error, unless it is one of the store */
function requireOutage(error: unknown): void {
  if (!(error instanceof OAuthError)) throw error;
}

function keyOf(id: string): RecordKey {
  return { kind: "link-question", id };
}

/** From a browser to the one question it has about a vendor. */
function pointerKey(vendor: string, cookieHash: string): RecordKey {
  return { kind: "link-question-of", id: hashOf(JSON.stringify([vendor, cookieHash])) };
}

async function sealingKey(cookieHash: string, { serverKey }: Pick<PendingTokensDeps, "serverKey">): Promise<Buffer> {
  const secret = Buffer.concat([await serverKey.derive("link-question"), Buffer.from(cookieHash)]);
  return deriveKey(secret, "link-question");
}

/** The members of a token set that are secrets, wherever in it they are. */
const SECRETS: ReadonlySet<string> = new Set(["accessToken", "refreshToken", "idToken", "vendorData", "label"]);

function toText(tokens: TokenSet): string {
  return JSON.stringify(tokens, function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
    const member = this[name];
    return member instanceof Secret ? member.reveal() : value;
  });
}

function toTokens(text: string): TokenSet {
  const reviveSecret = (name: string, value: unknown): unknown =>
    SECRETS.has(name) && typeof value === "string" ? new Secret(value) : value;
  return JSON.parse(text, reviveSecret) as TokenSet;
}
