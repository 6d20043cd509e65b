/** Everything one run with deployed servers is made of. */
import { SERVER } from "../../../packages/mcp-auth/src/testing/hosted-settings.ts";
import { type Answer, textIn } from "./answer.ts";
import { createNetwork, type Judge, type Sent } from "./network.ts";
import { createSurroundings, startServers } from "./servers.ts";
import type { WorldOptions } from "./world.ts";

export type ServerWorld = Awaited<ReturnType<typeof createServerWorld>>;
/** The longest that one request may take, of virtual time. */
const BOUND_MS = 60_000;

export async function createServerWorld(options: Omit<WorldOptions, "clients">) {
  const { choose, random, aheadSeconds, weaken } = options;
  const surroundings = createSurroundings(choose, random, weaken);
  const processes = await startServers(surroundings, aheadSeconds);
  const refreshes = new Map<string, string>();
  const send = createNetwork({
    ...surroundings,
    name: "server",
    processes,
    boundMs: () => BOUND_MS,
    baseUrl: SERVER,
    leaves: ({ pathname }) => pathname === "/authorize",
    goesOn: ({ path }, { searchParams }) => isCallback(path) && !searchParams.has("error"),
    judge: (answer, sent, judge) => judgeAnswer(answer, sent, judge, refreshes),
  });
  return { ...surroundings, processes, send };
}

function isCallback(path: string): boolean {
  return path.split("?", 1)[0]?.endsWith("/callback") === true;
}

/** @param refreshes which refresh token was exchanged for which */
function judgeAnswer(
  { status, to, body }: Answer,
  { path, form = {} }: Sent,
  { asker, promises, loot }: Judge,
  refreshes: Map<string, string>,
): void {
  if (isCallback(path)) promises.hide(to?.searchParams.get("code") ?? undefined);
  if (status !== 200 || path !== "/token") return;
  const { code, refresh_token: spent } = form;
  const { client = "", user = "" } = asker;
  if (code !== undefined) promises.usedOnce("code", code);
  for (const name of ["access_token", "refresh_token"]) {
    const token = textIn(body, name);
    if (token !== undefined) promises.belongs(token, { client, user });
  }
  const next = textIn(body, "refresh_token") ?? "";
  loot.push({ kind: "refresh", token: next, connection: "", accessToken: textIn(body, "access_token") ?? "" });
  if (spent === undefined) return;
  if ((refreshes.get(spent) ?? next) !== next) promises.broke("a refresh token was exchanged for two");
  refreshes.set(spent, next);
}
