/**
 * Users' links over token records: what ends one, what a page shows of it, and who has which. Each
 * decision is one conditional write; a link version fences out what began before.
 */
import { type Clock, defined, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import type { Row, TokenRows } from "./storage/token-rows.ts";
import { holdsTokens, isForeign, PLAIN_DETAILS, signInAttributes, signInOf } from "./tokens/link-attributes.ts";
import {
  endAttributes,
  expectAsRead,
  isExpired,
  LINK_VERSION,
  linkEndOf,
  linkVersionOf,
  nextLinkVersion,
} from "./tokens/row-conditions.ts";
import {
  COPY_ATTRIBUTES,
  LEASE_ATTRIBUTES,
  namesOf,
  rowKeyOf,
  SEALED_FIELDS,
  sealedName,
  statusOf,
} from "./tokens/token-attributes.ts";
import type { CurrentRecord, TokenRecords } from "./tokens/token-records.ts";
import type { LinkDetails, SignIn, StoredTokens, TokenKey, TokenStatus } from "./tokens/tokens.ts";

/** A link as an operator sees it: user, vendor, since when. No token is opened for it. */
export interface Link {
  readonly user: string;
  readonly vendor: string;
  readonly status: TokenStatus;
  /** The vendor and issuer of the identity `user`; absent: `vendor`. */
  readonly signIn?: SignIn;
  /** Made under another sign-in than the one asked for: no link of the present server's users. */
  readonly foreign?: true;
}

/** One user's link as a page shows it. */
export interface LinkReading {
  /**
   * Raised by every link and disconnect, never by a refresh; 0 for a user who never linked. What a
   * page shows is stored over this version alone.
   */
  readonly linkVersion: number;
  /**
   * When a link under this sign-in was ended last, or its end asked for if there was none: the
   * last millisecond that it can have been. Absent: never, or so long ago that no flow began
   * before.
   */
  readonly endedAtMilliseconds?: number;
  /**
   * `missing`: no tokens, or another sign-in's. `unreadable`: tokens that do not open here.
   */
  readonly stored: StoredTokens | "missing" | "unreadable";
}

interface LinksDeps {
  readonly records: TokenRecords;
  readonly rows: TokenRows;
  readonly now: Clock;
}

/** A link's version outlives every flow and page that was shown an earlier one. */
const ENDED_SECONDS = 3600;
/** Another writer may write between a read and the write that depends on it, but not every time. */
const MAX_TRIES = 8;

/** As `TokenStore.revoke`. */
export async function revoke(
  key: TokenKey,
  { records, rows }: Pick<LinksDeps, "records" | "rows">,
): Promise<StoredTokens | undefined> {
  const rowKey = rowKeyOf(key);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    // First: tokens of a moment later are then not revoked unread.
    const { attributes } = (await rows.get(rowKey)) ?? { attributes: {} };
    const current = await readOrUnreadable(key, records);
    if (current === "unreadable") {
      // Revoked all the same.
      const expected = expectAsRead(attributes, ["version", "status"]);
      if ((await rows.change(rowKey, { set: { status: "revoked" } }, expected)) === "written") return undefined;
      continue;
    }
    if (current === undefined || current.stored.status === "revoked") return undefined;
    if ((await records.note(current, { status: "revoked" })) !== undefined) return current.stored;
  }
  throw keptChanging();
}

/** As `TokenStore.readLink`. */
export async function readLink(key: TokenKey, { records, rows, now }: LinksDeps): Promise<LinkReading> {
  // First: a link of a moment later is then refused as a conflict, and not overwritten.
  const row = await rows.get(rowKeyOf(key));
  const linkVersion = row === undefined ? 0 : linkVersionOf(row.attributes, now());
  const known = {
    linkVersion,
    ...defined({ endedAtMilliseconds: row === undefined ? undefined : endOf(row.attributes, key, now()) }),
  };
  const current = await readOrUnreadable(key, records);
  if (current === "unreadable") return { ...known, stored: current };
  const isLinked = current !== undefined && current.stored.status !== "revoked";
  return { ...known, stored: isLinked ? current.stored : "missing" };
}

/** The end of another sign-in's link says nothing of this user. */
function endOf(attributes: Row["attributes"], { signIn }: TokenKey, now: EpochSeconds): number | undefined {
  const made = signInOf(attributes) ?? signIn;
  const isOurs = made?.vendor === signIn?.vendor && made?.issuer === signIn?.issuer;
  return isOurs && !isExpired(attributes, now) ? linkEndOf(attributes) : undefined;
}

/** As `TokenStore.describeLink`. */
export async function describeLink(
  key: TokenKey,
  change: (link: LinkDetails | undefined, linkVersion: number) => LinkDetails | undefined,
  { records, now }: Pick<LinksDeps, "records" | "now">,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const current = await records.read(key);
    if (current === undefined || current.stored.status === "revoked") return false;
    const { row, stored } = current;
    const link = change(stored.tokens.link, linkVersionOf(row.attributes, now()));
    if (link === undefined || (await records.redescribe(current, link)) !== undefined) return true;
  }
  throw keptChanging();
}

/** As `TokenStore.endLink`. */
//= bar#RV-1
export async function endLink(
  key: TokenKey,
  over: number | undefined,
  { records, rows, now }: LinksDeps,
): Promise<StoredTokens | "conflict" | undefined> {
  const rowKey = rowKeyOf(key);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { attributes } = (await rows.get(rowKey)) ?? { attributes: {} };
    if (isForeign(attributes, key)) return undefined;
    if (over !== undefined && over !== linkVersionOf(attributes, now())) return "conflict";
    const ended = { status: "revoked", [LINK_VERSION]: nextLinkVersion(attributes), ...endAttributes(now) };
    const expected = expectAsRead(attributes, ["version", "status", LINK_VERSION]);
    if (!holdsTokens(attributes)) {
      const change = { set: { ...ended, ...signInAttributes(key.signIn), ttl: now() + ENDED_SECONDS } };
      if ((await rows.change(rowKey, change, expected)) === "written") return undefined;
      continue;
    }
    const current = await readOrUnreadable(key, records);
    // Tokens that cannot be read are ended all the same; their sign-in is part of what was sealed.
    const stored = current === "unreadable" ? undefined : current?.stored;
    if (stored?.status === "revoked") return stored;
    if ((await rows.change(rowKey, { set: ended }, expected)) === "written") return stored;
  }
  throw keptChanging();
}

/** As `TokenStore.forgetLink`. */
export async function forgetLink(key: TokenKey, { rows, now }: Pick<LinksDeps, "rows" | "now">): Promise<void> {
  const row = await rows.get(rowKeyOf(key));
  if (row === undefined || statusOf(row.attributes) !== "revoked") return;
  const set = { ttl: now() + ENDED_SECONDS, ...signInAttributes(key.signIn) };
  const remove = TOKEN_ATTRIBUTES.filter((name) => Object.hasOwn(row.attributes, name));
  // Linked again in the meantime: that is another link.
  await rows.change(row.key, { set, remove }, expectAsRead(row.attributes, ["version", "status", LINK_VERSION]));
}

/** All but what the next link depends on: `version`, `link_version`, its end and `mode`. */
const TOKEN_ATTRIBUTES = [
  ...SEALED_FIELDS.map(sealedName),
  ...COPY_ATTRIBUTES,
  ...LEASE_ATTRIBUTES,
  "data_key",
  "format",
  "written_at",
  PLAIN_DETAILS,
];

/** As `TokenStore.links`. */
export async function* links(
  user: string | undefined,
  signIn: SignIn | undefined,
  deps: Pick<LinksDeps, "rows" | "now">,
): AsyncIterable<Link> {
  const { rows, now } = deps;
  if (user !== undefined) {
    yield* linksOf(await rows.partition(rowKeyOf({ user, vendor: "any" }).pk), signIn, now());
    return;
  }
  let cursor: string | undefined;
  do {
    const page = await rows.scan({ limit: 100, ...defined({ cursor }) });
    yield* linksOf(page.rows, signIn, now());
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function linksOf(rows: readonly Row[], present: SignIn | undefined, now: EpochSeconds): Link[] {
  return rows.flatMap(({ key, attributes }) => {
    const names = namesOf(key);
    const status = statusOf(attributes);
    const isOver = isExpired(attributes, now) || (status === "revoked" && !holdsTokens(attributes));
    if (names === undefined || isOver) return [];
    const signIn = signInOf(attributes);
    const foreign = isOfAnother(names.vendor, signIn, present) ? ({ foreign: true } as const) : {};
    return [{ ...names, status, ...defined({ signIn }), ...foreign }];
  });
}

/** A row that names no sign-in was made at its own vendor, whose issuer is not known here. */
function isOfAnother(vendor: string, made: SignIn | undefined, present: SignIn | undefined): boolean {
  if (made === undefined) return present !== undefined && present.vendor !== vendor;
  if (present === undefined) return made.vendor !== vendor;
  return made.vendor !== present.vendor || made.issuer !== present.issuer;
}

async function readOrUnreadable(
  key: TokenKey,
  records: Pick<TokenRecords, "read">,
): Promise<CurrentRecord | "unreadable" | undefined> {
  return records.read(key).catch((error: unknown) => {
    if (error instanceof OAuthError && error.extras.reason === "token_unreadable") return "unreadable";
    throw error;
  });
}

function keptChanging(): OAuthError {
  return new OAuthError("temporarily_unavailable", "The link cannot be changed now", {
    reason: "record_in_use",
    detail: "the row kept changing",
  });
}
