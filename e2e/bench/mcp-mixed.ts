/**
 * Calls of many users at once, mixed, against hosted mode on either store, each of which asks the vendor's API with the
 * user's token. A canary per user: the vendor says whose token it was sent, the tool says for whom it ran, and both must be
 * who called. Along with them tokens of this server's are refreshed.
 */
import { openConnection } from "./connection.ts";
import { callTool, connect, refresh, userName } from "./mcp-client.ts";
import type { McpStage } from "./mcp-stage.ts";

export const MIXED_USERS = 200;

export interface Mixed {
  readonly users: number;
  /** Checked, by store. */
  readonly calls: Readonly<Record<"sqlite" | "dynamodb", number>>;
  readonly crossed: number;
}

/** One in so many calls is made with a new token of ours. */
const CALLS_PER_REFRESH = 50;
const TOLD_EVERY = 10_000;
const DYNAMODB_PART = 0.1;

/**
 * @param count of calls on SQLite; a tenth as many on DynamoDB, whose engine shares this machine
 * @throws Error where a call fails; one that answers wrongly is counted
 */
export async function runMixed(
  { servers }: Pick<McpStage, "servers">,
  count: number,
  say: (line: string) => void,
): Promise<Mixed> {
  let crossed = 0;
  const calls = { sqlite: count, dynamodb: Math.ceil(count * DYNAMODB_PART) };
  for (const store of ["sqlite", "dynamodb"] as const) {
    let done = 0;
    const ofUser = async (number: number): Promise<void> => {
      const connection = openConnection(servers[store].url);
      let session = await connect(connection, userName(number));
      while (done < calls[store]) {
        done += 1;
        if (done % TOLD_EVERY === 0) say(`mixed      ${store}: ${done} of ${calls[store]}, crossed: ${crossed}`);
        if (done % CALLS_PER_REFRESH === 0) session = await refresh(connection, session);
        const { user, sub } = JSON.parse(await callTool(connection, session.accessToken, "account")) as Answered;
        if (user !== session.user || sub !== session.user) crossed += 1;
      }
      await connection.close();
    };
    await Promise.all(Array.from({ length: MIXED_USERS }, (_, number) => ofUser(number)));
  }
  return { users: MIXED_USERS, calls, crossed };
}

interface Answered {
  readonly user: string;
  readonly sub: string;
}

export function mixedVerdict({ users, calls, crossed }: Mixed): string {
  const many = `${calls.sqlite} calls of ${users} users at once on SQLite, ${calls.dynamodb} on DynamoDB`;
  const what = `${many}: ${crossed} got what was another's`;
  return `${crossed === 0 ? "aim met    " : "aim not met"}  ${what}; aim: 0`;
}
