/**
 * An MCP client and its user: registers, signs in, calls the tool and refreshes; the user links the
 * account that the tool needs. Both do what users and programs do: a second tab, a reload, Back, a
 * retry.
 */
import { type Answer, textIn } from "../world/answer.ts";
import type { ServerWorld } from "../world/server-world.ts";
import { TOOL } from "../world/servers.ts";
import { accountOf } from "../world/vendor.ts";
import type { Asker } from "../invariants/promises.ts";
import { type Browser, createBrowser, formWith } from "./browser.ts";
import {
  ATTEMPTS,
  bothIn,
  challengeOf,
  chance,
  inAttempts,
  newVerifier,
  pause,
  perhapsTwice,
  redeemTogether,
  refreshTogether,
} from "./habits.ts";

export interface Seat {
  readonly asker: Asker;
  readonly user: string;
  readonly browser: Browser;
  readonly world: ServerWorld;
  /** As registered. */
  clientId?: string | undefined;
}

export interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** What a call of the tool came to. */
type Called = { readonly ticket: string } | "done" | "unauthorized" | "failed";

const REDIRECT_URI = "https://client.example/cb";

export function createSeat(user: string, world: ServerWorld, options: { readonly keepsCookies?: boolean } = {}): Seat {
  const client = `client of ${user}`;
  world.promises.names(accountOf(user), user);
  return {
    asker: { name: client, client, user },
    user,
    browser: createBrowser({ name: `${user}'s browser`, user }, world, options),
    world,
  };
}

/** @param visit what the user does now and then, beside the client */
export async function liveClient(seat: Seat, rounds: number, visit: (seat: Seat) => Promise<void>): Promise<void> {
  let session = await signIn(seat, ATTEMPTS);
  for (let round = 0; round < rounds; round += 1) {
    await pause(seat, 60_000);
    session = await useTool(seat, session, ATTEMPTS);
    if (chance(seat, 40)) await visit(seat);
  }
}

/** When nothing fails any more, every user can sign in, link the account, and use the tool. */
export async function checkRecovery(seat: Seat): Promise<void> {
  const session = await signIn(seat, 2);
  if (session === undefined) return seat.world.promises.broke(`${seat.asker.name} cannot sign in any more`);
  const used = await useTool(seat, session, 3);
  if (used === undefined) seat.world.promises.broke(`${seat.asker.name} cannot use the tool any more`);
}

export async function signIn(seat: Seat, attempts: number): Promise<Session | undefined> {
  return inAttempts(seat, attempts, () => signInOnce(seat));
}

/** @returns the session that the tool was used with; undefined when it could not be used */
export async function useTool(seat: Seat, first: Session | undefined, attempts: number): Promise<Session | undefined> {
  let session = first;
  for (let left = attempts; left > 0; left -= 1) {
    session ??= await signInOnce(seat);
    const called = session === undefined ? "failed" : await callTool(seat, session);
    if (called === "done") return session;
    if (called === "unauthorized" && session !== undefined) session = await refreshSession(seat, session);
    else if (typeof called === "object") await follow(seat, called.ticket, "decision");
    await pause(seat, 3_000);
  }
  return undefined;
}

export async function register(seat: Seat): Promise<string | undefined> {
  const answer = await seat.world.send(seat.asker, {
    path: "/register",
    json: { client_name: seat.asker.name, redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none" },
  });
  return answer === undefined ? undefined : textIn(answer.body, "client_id");
}

export async function signInOnce(seat: Seat): Promise<Session | undefined> {
  const verifier = newVerifier();
  seat.world.promises.hide(verifier);
  const path = await authorizePath(seat, verifier);
  if (path === undefined) return undefined;
  const codes = await perhapsTwice(seat, 25, () => follow(seat, path, "decision"));
  const code = codes.find((found) => found !== undefined);
  if (code === undefined) return undefined;
  await pause(seat, 1_500);
  return redeem(seat, code, verifier);
}

export async function authorizePath(seat: Seat, verifier: string): Promise<string | undefined> {
  seat.clientId ??= await register(seat);
  if (seat.clientId === undefined) return undefined;
  return `/authorize?${new URLSearchParams({
    client_id: seat.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    state: "client-state",
  }).toString()}`;
}

/** Perhaps from two workers at once. */
export async function redeem(seat: Seat, code: string, verifier: string | undefined): Promise<Session | undefined> {
  const form = {
    grant_type: "authorization_code",
    client_id: seat.clientId ?? "",
    code,
    redirect_uri: REDIRECT_URI,
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
  };
  return redeemTogether(seat, () => postToken(seat, form), sessionIn);
}

/** @returns undefined when the user has to sign in again */
export async function refreshSession(seat: Seat, session: Session): Promise<Session | undefined> {
  const form = { grant_type: "refresh_token", client_id: seat.clientId ?? "", refresh_token: session.refreshToken };
  const isOver = (answer: Answer | undefined): boolean => answer?.body["error"] === "invalid_grant";
  return refreshTogether(seat, () => postToken(seat, form), { read: sessionIn, isOver });
}

export async function postToken(
  { asker, world }: Pick<Seat, "asker" | "world">,
  form: Readonly<Record<string, string>>,
): Promise<Answer | undefined> {
  return world.send(asker, { path: "/token", form });
}

export async function callTool({ asker, world }: Seat, { accessToken: bearer }: Session): Promise<Called> {
  const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: TOOL, arguments: {} } };
  const answer = await world.send(asker, { path: "/mcp", json, bearer });
  if (answer?.status === 401) return "unauthorized";
  const ticket = /https:\/\/server\.example(\/connect\/[\w-]+)/.exec(answer?.text ?? "")?.[1];
  if (ticket !== undefined) return { ticket };
  return answer?.text.includes("account-of-") === true ? "done" : "failed";
}

const MOST_STEPS = 12;

/**
 * As a browser with its user: redirects, the vendor's sign-in, and the button of a page that asks.
 *
 * @param button `decision` presses the one that approves
 * @returns the code with which the browser goes back to the client
 */
export async function follow(seat: Seat, path: string, button?: "decision"): Promise<string | undefined> {
  return (await walk(seat, path, await seat.browser.open(path), button)).code;
}

/** The same from an answer on. @returns the code, or the page on which it ends */
export async function walk(
  seat: Seat,
  path: string,
  first: Answer | undefined,
  button?: "decision",
): Promise<{ readonly code?: string | undefined; readonly page?: Answer }> {
  let answer = first;
  let from = path;
  for (let step = 0; step < MOST_STEPS && answer !== undefined; step += 1) {
    const { to } = answer;
    if (to === undefined) {
      const isQuestion = button !== undefined && answer.status === 200 && answer.text.includes('value="approve"');
      if (!isQuestion) return { page: answer };
      const at = from.split("?", 1)[0] ?? from;
      answer = await seat.browser.submit(at, { ...formWith(answer.text, "approve"), decision: "approve" });
      continue;
    }
    if (to.origin === new URL(REDIRECT_URI).origin) return { code: to.searchParams.get("code") ?? undefined };
    from = visit(seat, to);
    await pause(seat, 1_500);
    const open = (): Promise<Answer | undefined> => seat.browser.open(from);
    // A reload at once, or Back later.
    const reloads = chance(seat, 15) ? [open()] : [];
    const answers = await Promise.all([open(), ...reloads]);
    if (chance(seat, 10)) void open();
    answer = answers.find(isOn) ?? answers[0];
  }
  return {};
}

/** The one of two answers to a URL with which the user goes on. */
function isOn(answer: Answer | undefined): boolean {
  return answer !== undefined && answer.status < 400 && answer.to?.searchParams.has("error") !== true;
}

/** @returns the path to open next: where the redirect leads, or the vendor's answer to it */
export function visit({ world, user }: Seat, to: URL): string {
  const vendor = world.vendors.get(to.host);
  const back = vendor === undefined ? to : new URL(vendor.authorize(to, { client: `tokens at ${to.host}`, user }));
  return back.pathname + back.search;
}

function sessionIn(answer: Answer | undefined): Session | undefined {
  const found = bothIn(answer, "access_token", "refresh_token");
  return found && { accessToken: found[0], refreshToken: found[1] };
}
