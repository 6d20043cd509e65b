/**
 * Users' links over token records: what ends one, what a page shows of it, and who has which. Each
 * decision is one conditional write; a link version fences out what began before.
 */
import { defined, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import type { Attributes, Row, RowKey } from "./storage/token-rows.ts";
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
import type { CurrentRecord, TokenRecords, TokenRecordsOptions } from "./tokens/token-records.ts";
import type { LinkDetails, SignIn, StoredTokens, TokenKey, TokenSet, TokenStatus } from "./tokens/tokens.ts";
import { untilUnchanged } from "./tokens/tries.ts";

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

/** What a store does with users' links, and with what ends a record. */
export interface Links {
  /** Without a refresh. */
  readLink(key: TokenKey): Promise<LinkReading>;
  /**
   * Stores a user's link over the version that the user was shown.
   *
   * @returns `conflict` when it was linked or ended since, and over another sign-in's link: that
   *   one has to be ended first
   * @throws TokenStoreError too_large, input_invalid
   */
  link(key: TokenKey, tokens: TokenSet, linkVersion: number): Promise<StoredTokens | "conflict">;
  /**
   * Changes what is known of a link.
   *
   * @param change undefined: leaves it
   * @returns whether there is such a link
   */
  describeLink(
    key: TokenKey,
    change: (link: LinkDetails | undefined, linkVersion: number) => LinkDetails | undefined,
  ): Promise<boolean>;
  /**
   * Ends a user's link here at once: it reads as absent, and a refresh under way cannot commit. With
   * a sign-in in its key nothing that began before stores tokens from now on, not even if no link
   * existed. The caller then revokes the tokens at the vendor, and calls `forgetLink`.
   *
   * @param over the link version that the user was shown; absent: any
   * @returns the tokens to revoke at the vendor; `conflict` over any other version
   */
  //= bar#RV-1
  endLink(key: TokenKey, over?: number): Promise<StoredTokens | "conflict" | undefined>;
  /**
   * Removes the tokens of an ended link, readable or not. With a sign-in in its key its version stays
   * for a while. One that was authorized again in the meantime stays.
   */
  forgetLink(key: TokenKey): Promise<void>;
  /**
   * One user's links, or those of all users.
   *
   * @param signIn of the present server; absent: each vendor is its own
   */
  links(user?: string, signIn?: SignIn): AsyncIterable<Link>;
}

/** A link's version outlives every flow and page that was shown an earlier one. */
const ENDED_SECONDS = 3600;

export function createLinks(
  deps: Pick<TokenRecordsOptions, "rows" | "now"> & { readonly records: TokenRecords },
): Links {
  const { records, rows, now } = deps;
  const attributesOf = async (rowKey: RowKey): Promise<Attributes> => (await rows.get(rowKey))?.attributes ?? {};

  /** With one vendor: no version to raise, and without a link nothing to end. */
  const revoke = (key: TokenKey): Promise<StoredTokens | undefined> => {
    const rowKey = rowKeyOf(key);
    return untilUnchanged(async () => {
      // First: tokens of a moment later are then not revoked unread.
      const attributes = await attributesOf(rowKey);
      const current = await readOrUnreadable(key, records);
      if (current === "unreadable") {
        // Revoked all the same.
        const expected = expectAsRead(attributes, ["version", "status"]);
        const revoked = await rows.change(rowKey, { set: { status: "revoked" } }, expected);
        return revoked === "written" ? undefined : "changed";
      }
      if (current === undefined || current.stored.status === "revoked") return undefined;
      const revoked = await records.note(current, { status: "revoked" });
      return revoked === undefined ? "changed" : current.stored;
    });
  };

  return {
    readLink: async (key) => {
      // First: a link of a moment later is then refused as a conflict, and not overwritten.
      const attributes = await attributesOf(rowKeyOf(key));
      const endedAtMilliseconds = endOf(attributes, key, now());
      const known = { linkVersion: linkVersionOf(attributes, now()), ...defined({ endedAtMilliseconds }) };
      const current = await readOrUnreadable(key, records);
      if (current === "unreadable") return { ...known, stored: current };
      const isLinked = current !== undefined && current.stored.status !== "revoked";
      return { ...known, stored: isLinked ? current.stored : "missing" };
    },
    link: records.replaceLink,
    describeLink: (key, change) =>
      untilUnchanged(async () => {
        const current = await records.read(key);
        if (current === undefined || current.stored.status === "revoked") return false;
        const { row, stored } = current;
        const link = change(stored.tokens.link, linkVersionOf(row.attributes, now()));
        return link === undefined || (await records.reseal(current, { link })) !== undefined ? true : "changed";
      }),
    //= bar#RV-1
    endLink: (key, over) => {
      if (key.signIn === undefined) return revoke(key);
      const rowKey = rowKeyOf(key);
      return untilUnchanged(async () => {
        const attributes = await attributesOf(rowKey);
        if (isForeign(attributes, key)) return undefined;
        if (over !== undefined && over !== linkVersionOf(attributes, now())) return "conflict";
        const ended = { status: "revoked", [LINK_VERSION]: nextLinkVersion(attributes), ...endAttributes(now) };
        const expected = expectAsRead(attributes, ["version", "status", LINK_VERSION]);
        if (!holdsTokens(attributes)) {
          const change = { set: { ...ended, ...signInAttributes(key.signIn), ttl: now() + ENDED_SECONDS } };
          return (await rows.change(rowKey, change, expected)) === "written" ? undefined : "changed";
        }
        const current = await readOrUnreadable(key, records);
        // Tokens that cannot be read are ended all the same; their sign-in is part of what was sealed.
        const stored = current === "unreadable" ? undefined : current?.stored;
        if (stored?.status === "revoked") return stored;
        return (await rows.change(rowKey, { set: ended }, expected)) === "written" ? stored : "changed";
      });
    },
    forgetLink: async (key) => {
      if (key.signIn === undefined) return records.deleteRevoked(key);
      const row = await rows.get(rowKeyOf(key));
      if (row === undefined || statusOf(row.attributes) !== "revoked") return;
      const set = { ttl: now() + ENDED_SECONDS, ...signInAttributes(key.signIn) };
      const remove = TOKEN_ATTRIBUTES.filter((name) => Object.hasOwn(row.attributes, name));
      // Linked again in the meantime: that is another link.
      await rows.change(row.key, { set, remove }, expectAsRead(row.attributes, ["version", "status", LINK_VERSION]));
    },
    links: async function* (user, signIn) {
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
    },
  };
}

/** The end of another sign-in's link says nothing of this user. */
function endOf(attributes: Attributes, { signIn }: TokenKey, now: EpochSeconds): number | undefined {
  const made = signInOf(attributes) ?? signIn;
  const isOurs = made?.vendor === signIn?.vendor && made?.issuer === signIn?.issuer;
  return isOurs && !isExpired(attributes, now) ? linkEndOf(attributes) : undefined;
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
  { read }: TokenRecords,
): Promise<CurrentRecord | "unreadable" | undefined> {
  return read(key).catch((error: unknown) => {
    if (error instanceof OAuthError && error.extras.reason === "token_unreadable") return "unreadable";
    throw error;
  });
}
