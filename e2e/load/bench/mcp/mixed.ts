/**
 * Calls of many users at once, mixed, against hosted mode on either store, each of which calls the
 * vendor's API with the user's token. A canary per user: the vendor reports whose token it
 * received, the tool reports for whom it ran, and both must be the caller. In the meantime tokens
 * of this server are refreshed.
 */
import { type Connection, openConnection } from "../../connection.ts";
import { callTool, connect, refresh, type Session, userName } from "../../mcp-client.ts";
import { aimText } from "../../report.ts";

/**
 * Concurrent calls. The engine behind DynamoDB shares this machine, and the store gives an engine
 * 2.5 s.
 */
const USERS = { sqlite: 200, dynamodb: 20 } as const;
type Store = keyof typeof USERS;

/** One call in this many uses one of our new tokens. */
const CALLS_PER_REFRESH = 50;

/**
 * @param count of calls on SQLite; a tenth as many on DynamoDB
 * @returns how many calls were checked, and how many had a wrong answer
 * @throws Error when a call fails
 */
export async function runMixed(servers: Readonly<Record<Store, { readonly url: string }>>, count: number) {
  let crossed = 0;
  const calls = { sqlite: count, dynamodb: Math.ceil(count / 10) };
  for (const store of ["sqlite", "dynamodb"] as const) {
    const users: { readonly connection: Connection; readonly first: Session }[] = [];
    for (let number = 0; number < USERS[store]; number += 1) {
      const connection = openConnection(servers[store].url);
      // One by one: the calls are what is loaded.
      users.push({ connection, first: await connect(connection, userName(number)) });
    }
    let done = 0;
    const callAs = async ({ connection, first }: (typeof users)[number]): Promise<void> => {
      let session = first;
      while (done < calls[store]) {
        done += 1;
        if (done % CALLS_PER_REFRESH === 0) session = await refresh(connection, session);
        const answer = await callTool(connection, session.accessToken, "account");
        const { user, sub } = JSON.parse(answer) as Readonly<Record<"user" | "sub", string>>;
        if (user !== session.user || sub !== session.user) crossed += 1;
      }
      await connection.close();
    };
    await Promise.all(users.map(callAs));
  }
  return { calls, crossed };
}

export function mixedLine({ calls, crossed }: Awaited<ReturnType<typeof runMixed>>): string {
  const many = `${calls.sqlite} calls of ${USERS.sqlite} users at once on SQLite, ${calls.dynamodb} of ${USERS.dynamodb} on DynamoDB`;
  return `${many}: ${crossed} got what was another's, ${aimText(crossed === 0, "0")}`;
}
