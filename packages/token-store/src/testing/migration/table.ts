/**
 * The table of the migration test: filled as older builds leave it, with some rows of every other
 * kind, and inspected.
 */
import { BatchWriteItemCommand, DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { volume } from "@oauth-broker/oauth-core/testing";
import { knownRow, type RowKind } from "../../cli/row-kinds.ts";
import { memoryTokenRows } from "../../storage/memory/token-rows.ts";
import type { TokenRows } from "../../storage/token-rows.ts";
import type { TokenStore } from "../../token-store.ts";
import { CANARY, keyOf, olderItem, tokensOf, userOf, type Write, writeIn } from "./fleet.ts";

/** Plaintext only, the first. After them the other kinds. */
export const OLDER_ROWS: number = volume({ test: 160, soak: 3000 });
export const OTHER_ROWS: number = volume({ test: 10, soak: 100 });
const BOTH_FROM = OLDER_ROWS;
export const ENCRYPTED_FROM: number = BOTH_FROM + OTHER_ROWS;
const CHANGED_FROM: number = ENCRYPTED_FROM + OTHER_ROWS;
export const USERS: number = CHANGED_FROM + OTHER_ROWS;
const EXPIRED = 50;
const FOREIGN = 50;

const FIRST: Write = { by: "first", write: 0 };
const CHANGED: Write = { by: "changed", write: 1 };

type Item = ReturnType<typeof olderItem>;
export type RawItem = Readonly<Record<string, unknown>>;

/** The tokens of a user as long as no process has written. */
export function firstWriteOf(index: number): Write {
  return index >= CHANGED_FROM ? CHANGED : FIRST;
}

export async function fillTable(
  { table, endpoint, region }: { readonly table: string; readonly endpoint: string; readonly region: string },
  { bridge, encrypted }: { readonly bridge: TokenStore; readonly encrypted: TokenStore },
): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region });
  const older = Array.from({ length: OLDER_ROWS }, (_, index) => olderItem(index, FIRST));
  const expired = Array.from({ length: EXPIRED }, (_, index): Item => {
    return { ...olderItem(index, FIRST), pk: { S: `USER#expired-${index}` }, ttl: { N: "1700000000" } };
  });
  const foreign = Array.from({ length: FOREIGN }, (_, index): Item => {
    return { pk: { S: `flow#${index}` }, sk: { S: "record" }, data: { S: "{}" } };
  });
  const batches = chunks([...older, ...expired, ...foreign], 25);
  await inParallel(batches, 4, async (items) => {
    const requests = items.map((item) => ({ PutRequest: { Item: item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
  });
  const others = Array.from({ length: USERS - BOTH_FROM }, (_, index) => BOTH_FROM + index);
  await inParallel(others, 8, async (index) => {
    const isEncrypted = index >= ENCRYPTED_FROM && index < CHANGED_FROM;
    await (isEncrypted ? encrypted : bridge).put(keyOf(index), tokensOf(index, FIRST));
    if (index < CHANGED_FROM) return;
    const { pk, sk, access_token: access, refresh_token: refresh, id_token: id } = olderItem(index, CHANGED);
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: pk ?? { S: "" }, sk: sk ?? { S: "" } },
        UpdateExpression: `SET access_token = :a, refresh_token = :r${id === undefined ? "" : ", id_token = :i"}`,
        ExpressionAttributeValues: {
          ":a": access ?? { S: "" },
          ":r": refresh ?? { S: "" },
          ...(id === undefined ? {} : { ":i": id }),
        },
      }),
    );
  });
  client.destroy();
}

export function countKinds(items: readonly RawItem[], now: number): Record<RowKind, number> {
  const counts = { plaintext_only: 0, both: 0, ciphertext_only: 0, broken: 0, empty: 0, expired: 0, other: 0 };
  for (const item of items) {
    const { pk, sk, ...rest } = plain(item);
    counts[knownRow({ key: { pk: String(pk), sk: String(sk) }, attributes: rest }, now).kind] += 1;
  }
  return counts;
}

/**
 * The same rows in memory, under the same name: reading ten thousand of them over the network takes
 * ten seconds.
 */
export async function rowsInMemory(items: readonly RawItem[], table: string): Promise<TokenRows> {
  const rows = memoryTokenRows({ table });
  for (const item of items) {
    const { pk, sk, attempt: _, ...set } = plain(item);
    await rows.change({ pk: String(pk), sk: String(sk) }, { set }, {});
  }
  return rows;
}

/** What an older build sees of each user: the write of its access token. */
export function copies(items: readonly RawItem[]): ReadonlyMap<string, Write | undefined> {
  return new Map(
    items.map((item) => {
      const { pk, access_token: token } = plain(item);
      return [String(pk).replace("USER#", ""), writeIn(typeof token === "string" ? token : undefined)];
    }),
  );
}

/** The items that contain a readable token, anywhere. */
export function itemsWithPlaintext(items: readonly RawItem[]): readonly RawItem[] {
  return items.filter((item) => JSON.stringify(item).includes(CANARY));
}

/**
 * Reads every user.
 *
 * @returns the users whose tokens do not equal, in every field, one of the possible last writes
 */
export async function usersWithOtherTokens(
  store: TokenStore,
  lastWritesOf: (index: number) => readonly Write[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  await inParallel(
    Array.from({ length: USERS }, (_, index) => index),
    16,
    async (index) => {
      const found = await store.get(keyOf(index)).catch((error: unknown) => String(error));
      const shown = typeof found === "string" || found === undefined ? found : revealed(found.tokens);
      const expected = lastWritesOf(index).map((write) => revealed(tokensOf(index, write)));
      if (shown === undefined || !expected.includes(shown))
        wrong.push(`${userOf(index)}: ${shown}, not ${expected.join(" or ")}`);
    },
  );
  return wrong;
}

export async function inParallel<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function revealed({ accessToken, refreshToken, idToken, ...rest }: ReturnType<typeof tokensOf>): string {
  const { tokenType, scope, expiresAt } = rest;
  return [accessToken.reveal(), refreshToken?.reveal(), idToken?.reveal(), tokenType, scope, expiresAt].join(" ");
}

function plain(item: RawItem): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]): [string, string | number][] => {
      const { S: text, N: number } = value as { readonly S?: string; readonly N?: string };
      if (text !== undefined) return [[name, text]];
      return number === undefined ? [] : [[name, Number(number)]];
    }),
  );
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
