/**
 * Calls of many users at once, mixed, against hosted mode on either store, each of which calls the
 * vendor's API with the user's token. A canary per user: the vendor reports whose token it
 * received, the tool reports for whom it ran, and both must be the caller. In the meantime tokens
 * of this server are refreshed. No scenario of the bench and no figure: it stays because bar#RS-8
 * is shown with 100,000 calls, which no test has time for, and runs only when `--mixed-calls` asks
 * for it.
 */
import { type Connection, openConnection } from "../../connection.ts";
import { aimLine } from "../../spread.ts";
import { callTool, connect, refresh, type Session, userName } from "../../mcp-client.ts";

const STORES = ["sqlite", "dynamodb"] as const;
type Store = (typeof STORES)[number];

/**
 * Concurrent calls. The engine behind DynamoDB shares this machine, and the store gives an engine
 * 2.5 s.
 */
const USERS: Readonly<Record<Store, number>> = { sqlite: 200, dynamodb: 20 };

export interface Mixed {
  readonly users: Readonly<Record<Store, number>>;
  /** Checked. */
  readonly calls: Readonly<Record<Store, number>>;
  readonly crossed: number;
}

/** One call in this many uses one of our new tokens. */
const CALLS_PER_REFRESH = 50;
const TOLD_EVERY = 10_000;
const DYNAMODB_PART = 0.1;

/**
 * @param count of calls on SQLite; a tenth as many on DynamoDB
 * @throws Error when a call fails; a wrong answer is counted
 */
export async function runMixed(
  servers: Readonly<Record<Store, { readonly url: string }>>,
  count: number,
  say: (line: string) => void,
): Promise<Mixed> {
  let crossed = 0;
  const calls = { sqlite: count, dynamodb: Math.ceil(count * DYNAMODB_PART) };
  for (const store of STORES) {
    const users = await connectAll(servers[store].url, USERS[store]);
    let done = 0;
    const callAs = async ({ connection, session: first }: ConnectedUser): Promise<void> => {
      let session = first;
      while (done < calls[store]) {
        done += 1;
        if (done % TOLD_EVERY === 0) say(`mixed      ${store}: ${done} of ${calls[store]}, crossed: ${crossed}`);
        if (done % CALLS_PER_REFRESH === 0) session = await refresh(connection, session);
        const { user, sub } = JSON.parse(await callTool(connection, session.accessToken, "account")) as Answered;
        if (user !== session.user || sub !== session.user) crossed += 1;
      }
      await connection.close();
    };
    await Promise.all(users.map(callAs));
  }
  return { users: USERS, calls, crossed };
}

interface ConnectedUser {
  readonly connection: Connection;
  readonly session: Session;
}

async function connectAll(url: string, count: number): Promise<ConnectedUser[]> {
  const users: ConnectedUser[] = [];
  for (let number = 0; number < count; number += 1) {
    const connection = openConnection(url);
    // One by one: the calls are what is measured and loaded.
    users.push({ connection, session: await connect(connection, userName(number)) });
  }
  return users;
}

interface Answered {
  readonly user: string;
  readonly sub: string;
}

export function mixedLine({ users, calls, crossed }: Mixed): string {
  const many = `${calls.sqlite} calls of ${users.sqlite} users at once on SQLite, ${calls.dynamodb} of ${users.dynamodb} on DynamoDB`;
  return aimLine(crossed === 0, `${many}: ${crossed} got what was another's`, "0");
}
