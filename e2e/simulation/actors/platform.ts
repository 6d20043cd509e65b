/**
 * A platform and one of its users: connects an account, refreshes its tokens from several workers,
 * and connects again when an answer says so. Both do what users and programs do: a second tab, a
 * reload, Back, a retry.
 */
import { createBrowser, fieldsOf } from "./browser.ts";
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
import type { Asker } from "../invariants/promises.ts";
import type { SimulatedClient } from "../world/processes.ts";
import { type Answer, textIn } from "../world/answer.ts";
import { VENDOR_ORIGIN } from "../world/vendor.ts";
import type { World } from "../world/world.ts";

export type Account = ReturnType<typeof createAccount>;
/** What a platform keeps for a user. */
export interface Kept {
  readonly refreshToken: string;
  readonly connection: string;
}

export function createAccount(user: string, client: SimulatedClient, world: World) {
  const browser = createBrowser({ name: `${user}'s browser` }, world);
  const asker: Asker = { name: `${client.id} for ${user}`, client: client.id, user };
  return { asker, client, browser, world };
}

/** Connects, uses and perhaps ends the connection; then makes sure that the user has not been left behind. */
export async function livePlatform(account: Account, rounds: number): Promise<void> {
  let kept = await connect(account, ATTEMPTS);
  for (let round = 0; round < rounds; round += 1) {
    await pause(account, 20_000);
    kept = (await refreshOnce(account, kept)) ?? (await connect(account, ATTEMPTS));
    if (kept !== undefined && chance(account, 10)) {
      await post(account, "/v1/revoke", { token: kept.refreshToken, connection: kept.connection, ...own(account) });
      kept = undefined;
    }
  }
}

/** When nothing fails any more, every user works again, after a new sign-in at most. */
export async function checkRecovery(account: Account): Promise<void> {
  const kept = await connect(account, 2);
  if (kept === undefined) return account.world.promises.broke(`${account.asker.name} cannot connect any more`);
  if ((await refreshOnce(account, kept)) === undefined) {
    account.world.promises.broke(`${account.asker.name} cannot refresh any more`);
  }
}

/** @returns undefined when it did not come about in that many attempts */
export async function connect(account: Account, attempts: number): Promise<Kept | undefined> {
  return inAttempts(account, attempts, () => connectOnce(account));
}

async function connectOnce(account: Account): Promise<Kept | undefined> {
  const verifier = newVerifier();
  account.world.promises.hide(verifier);
  const path = await push(account, verifier);
  if (path === undefined) return undefined;
  const back = await perhapsTwice(account, 25, () => visitVendor(account, path));
  const answers = await Promise.all(back.flatMap((at) => (at === undefined ? [] : comeBack(account, at))));
  const code = answers.flat().find((found) => found !== undefined);
  if (code === undefined) return undefined;
  await pause(account, 1_500);
  return redeem(account, code, verifier);
}

/** @returns the path that the browser opens */
export async function push(account: Account, verifier: string): Promise<string | undefined> {
  const { client } = account;
  const answer = await post(account, "/v1/par", {
    client_id: client.id,
    response_type: "code",
    vendor: "acme",
    ...own(account),
    redirect_uri: client.redirectUri,
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    state: "the platform's own",
  });
  const requestUri = answer === undefined ? undefined : textIn(answer.body, "request_uri");
  if (requestUri === undefined) return undefined;
  return `/v1/authorize?${new URLSearchParams({ client_id: client.id, request_uri: requestUri }).toString()}`;
}

/** The page that names the client, its button, the vendor's sign-in. @returns the path of the callback */
export async function visitVendor({ asker, browser, world }: Account, path: string): Promise<string | undefined> {
  const page = await browser.open(path);
  const shown = page?.status === 200 ? fieldsOf(page.text) : undefined;
  const left = shown === undefined ? page : await browser.submit("/v1/authorize", { ...shown, decision: "approve" });
  if (left?.to?.origin !== VENDOR_ORIGIN) return undefined;
  const { client = "", user = "" } = asker;
  const { pathname, search } = new URL(world.vendor.authorize(left.to, { client, user }));
  world.loot.push({ kind: "path", path: pathname + search });
  return pathname + search;
}

/** A flow of the user, as far as the vendor. @returns its verifier, and the path of the callback */
export async function beginFlow(account: Account) {
  const verifier = newVerifier();
  const path = await push(account, verifier);
  const back = path === undefined ? undefined : await visitVendor(account, path);
  return back === undefined ? undefined : { verifier, back };
}

/** One answer, and perhaps the same again: a reload at once, or Back later. @returns the broker's codes */
async function comeBack(account: Account, path: string): Promise<(string | undefined)[]> {
  const open = async (): Promise<string | undefined> => codeIn(await account.browser.open(path));
  const reloads = chance(account, 25) ? [undefined] : [];
  await pause(account, 1_500);
  const first = await Promise.all([open(), ...reloads.map(open)]);
  if (chance(account, 15)) void open();
  return first;
}

export function codeIn(answer: Answer | undefined): string | undefined {
  return answer?.to?.searchParams.get("code") ?? undefined;
}

/** Perhaps from two workers at once. */
export async function redeem(account: Account, code: string, verifier: string): Promise<Kept | undefined> {
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: account.client.redirectUri,
    code_verifier: verifier,
  };
  return redeemTogether(account, () => post(account, "/v1/token", form), keptIn);
}

/** @returns undefined when the user has to connect again */
export async function refreshOnce(account: Account, kept: Kept | undefined): Promise<Kept | undefined> {
  if (kept === undefined) return undefined;
  return refreshTogether(account, () => refresh(account, kept), { read: keptIn, isOver: isToldToConnect });
}

export async function refresh(account: Account, { refreshToken, connection }: Kept): Promise<Answer | undefined> {
  const form = { grant_type: "refresh_token", refresh_token: refreshToken, ...own(account) };
  const isEnough = account.client.refreshTokens === "sealed" && chance(account, 50);
  return post(account, "/v1/token", isEnough ? form : { ...form, connection });
}

/** The platform's own client at the vendor. Some workers have its new secret already. */
function own(account: Account): Readonly<Record<string, string>> {
  const [id, secrets] = [account.client.own?.id, account.client.own?.secrets];
  if (id === undefined || secrets === undefined) return {};
  return { vendor_client_id: id, vendor_client_secret: account.world.random?.pick(secrets) ?? secrets[0] ?? "" };
}

function isToldToConnect(answer: Answer | undefined): boolean {
  return answer?.body["error"] === "invalid_grant" || answer?.body["retry"] === "restart";
}

function keptIn(answer: Answer | undefined): Kept | undefined {
  const found = bothIn(answer, "refresh_token", "connection");
  return found && { refreshToken: found[0], connection: found[1] };
}

export async function post(
  { asker, client, world }: Account,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Answer | undefined> {
  return world.send(asker, { path, form, client });
}
