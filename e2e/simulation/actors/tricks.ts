/** What an attacker does with more than what was seen: forged forms, rows, answers and secrets. */
import { createBrowser, fieldsOf } from "./browser.ts";
import { challengeOf, newVerifier } from "./habits.ts";
import { type Account, beginFlow, codeIn, post, push, redeem } from "./platform.ts";
import { type Loot, parametersOf } from "../world/network.ts";
import type { World } from "../world/world.ts";

/** The attacker's accounts. */
export interface Attacker {
  /** At the attacker's own client, whose secret it has. */
  readonly own: Account;
  /**
   * At the platform of the others: its backend redeems the codes that the attacker's browser
   * delivers.
   */
  readonly amongOthers: Account;
  /** Open what the attacker sends them. */
  readonly victims: readonly Account[];
}

type Trick = (attacker: Attacker, world: World) => Promise<void>;

/** Longer than a code lasts by any clock. */
const AFTER_A_CODE_MS = 70_000;

export const TRICKS: readonly Trick[] = [
  rewriteChallenge,
  plantOwnFlow,
  prolongCode,
  redeemFirst,
  redirectElsewhere,
  answerTwice,
  forgeApproval,
  guessSecret,
  guessVendorSecret,
  passAccessToken,
];

/** The verifier of a stolen code: its challenge is replaced by that of another. */
async function rewriteChallenge({ amongOthers }: Attacker, { loot, store }: World): Promise<void> {
  const code = newest(loot, "code")?.code;
  if (code === undefined) return;
  const verifier = newVerifier();
  const codeChallenge = challengeOf(verifier);
  if (await store.plantFlow(flowOf(code), ({ data }) => ({ data: { ...data, codeChallenge } }))) {
    await redeem(amongOthers, code, verifier);
  }
}

/** The attacker's own flow in the place of another, whose callback then belongs to the attacker's browser. */
async function plantOwnFlow({ amongOthers }: Attacker, { loot, store }: World): Promise<void> {
  const own = await beginFlow(amongOthers);
  const theirs = loot.findLast(
    (found) => found.kind === "path" && isCallback(found.path) && flowIn(found.path) !== flowIn(own?.back ?? ""),
  );
  if (own === undefined || theirs?.kind !== "path") return;
  const [from, to] = [flowIn(own.back), flowIn(theirs.path)];
  amongOthers.browser.copyCookie(from, to);
  if (!(await store.plantFlow(from, () => ({}), to))) return;
  const code = codeIn(await amongOthers.browser.open(theirs.path));
  if (code !== undefined) await redeem(amongOthers, code, own.verifier);
}

/** An own code after its end, which the table says is later. */
async function prolongCode({ own }: Attacker, { scheduler, store }: World): Promise<void> {
  const taken = await takeCode(own);
  if (taken === undefined) return;
  const { code, verifier } = taken;
  await scheduler.wait(AFTER_A_CODE_MS);
  await store.plantFlow(flowOf(code), ({ expiresAt }) => ({ expiresAt: expiresAt + 600 }));
  await redeem(own, code, verifier);
}

/** @returns a code of the attacker's flow, not redeemed */
async function takeCode(own: Account) {
  const flow = await beginFlow(own);
  if (flow === undefined) return undefined;
  const code = codeIn(await own.browser.open(flow.back));
  return code === undefined ? undefined : { code, verifier: flow.verifier };
}

/** A code of another user before the platform redeems it, as any client. */
async function redeemFirst({ own, amongOthers }: Attacker, { loot, scheduler, random }: World): Promise<void> {
  const found = await nextSeen("code", { loot, scheduler });
  if (found === undefined) return;
  // As far as the attacker knows: with its redirect URI, and any verifier.
  const { redirectUri } = amongOthers.client;
  const account = random?.pick([own, amongOthers]) ?? own;
  await redeem({ ...account, client: { ...account.client, redirectUri } }, found.code, newVerifier());
}

/** An own code, with another redirect URI than its flow has. */
async function redirectElsewhere({ own }: Attacker): Promise<void> {
  const taken = await takeCode(own);
  const client = { ...own.client, redirectUri: "https://elsewhere.example/cb" };
  if (taken !== undefined) await redeem({ ...own, client }, taken.code, taken.verifier);
}

/** A second answer for a state whose first was refused. */
async function answerTwice({ own }: Attacker, { promises }: World): Promise<void> {
  const flow = await beginFlow(own);
  if (flow === undefined) return;
  const refused = await own.browser.open(`${flow.back}&error=access_denied`);
  if (refused?.status !== 400) return;
  if (codeIn(await own.browser.open(flow.back)) !== undefined) promises.broke("a state worked after a refused answer");
}

/** A form that another site sends, in the browser of a user who was shown the page, or in one that never was. */
async function forgeApproval({ own, victims }: Attacker, world: World): Promise<void> {
  const { promises, random } = world;
  const victim = victims[random?.below(victims.length + 1) ?? 0];
  const path = await push(own, newVerifier());
  if (path === undefined) return;
  const stranger = createBrowser({ name: "a stranger's browser" }, world);
  const browser = victim?.browser ?? stranger;
  const page = await (victim === undefined ? own.browser : browser).open(path);
  if (page?.status !== 200) return;
  const form = { ...fieldsOf(page.text), csrf: newVerifier(), decision: "approve" };
  const left = await browser.submit("/v1/authorize", form);
  if (left?.location !== undefined) promises.broke("a forged form was taken for the user's");
}

/** A stolen refresh token as its own client, whose secret is unknown. */
async function guessSecret({ amongOthers }: Attacker, { loot }: World): Promise<void> {
  const found = newest(loot, "refresh");
  if (found === undefined) return;
  const client = { ...amongOthers.client, secret: newVerifier() };
  await post({ ...amongOthers, client }, "/v1/token", refreshOf(found));
}

/** A refresh token while it is used, at the platform of the others, with a guessed secret at the vendor. */
async function guessVendorSecret({ amongOthers }: Attacker, { loot, scheduler, processes }: World): Promise<void> {
  const { asker, client, world } = amongOthers;
  if (client.own === undefined) return;
  const found = await nextSeen("presented", { loot, scheduler });
  if (found === undefined) return;
  const form = { ...refreshOf(found), vendor_client_id: client.own.id, vendor_client_secret: newVerifier() };
  const send = (process: number) => world.send(asker, { path: "/v1/token", form, client, process });
  await Promise.all(Array.from({ length: processes.count }, (_, process) => send(process)));
}

/** A stolen access token as the refresh token of its connection, if the vendor cannot distinguish them. */
async function passAccessToken({ amongOthers }: Attacker, { loot }: World): Promise<void> {
  const found = newest(loot, "refresh");
  const { hasOwners, own, refreshTokens } = amongOthers.client;
  if (found === undefined || !hasOwners || own !== undefined || refreshTokens === "sealed") return;
  await post(amongOthers, "/v1/token", refreshOf({ ...found, token: found.accessToken }));
}

/** @returns what is seen next, if anything is in five seconds */
async function nextSeen<Kind extends Loot["kind"]>(
  kind: Kind,
  { loot, scheduler }: Pick<World, "loot" | "scheduler">,
): Promise<Seen<Kind> | undefined> {
  const seen = loot.length;
  for (let times = 0; times < 100; times += 1) {
    const found = newest(loot.slice(seen), kind);
    if (found !== undefined) return found;
    await scheduler.wait(50);
  }
  return undefined;
}

function newest<Kind extends Loot["kind"]>(loot: readonly Loot[], kind: Kind): Seen<Kind> | undefined {
  return loot.findLast((found): found is Seen<Kind> => found.kind === kind);
}

type Seen<Kind extends Loot["kind"]> = Extract<Loot, { kind: Kind }>;

function refreshOf({ token, connection }: Omit<Seen<"presented">, "kind">): Readonly<Record<string, string>> {
  return { grant_type: "refresh_token", refresh_token: token, connection };
}

function flowOf(handle: string): string {
  return handle.split(".", 1)[0] ?? "";
}

function isCallback(path: string): boolean {
  return path.startsWith("/v1/callback");
}

/** The flow that a callback's state names. */
function flowIn(path: string): string {
  const state = parametersOf(path).get("state") ?? "";
  const payload = Buffer.from(state.split(".")[1] ?? "", "base64url").toString();
  return payload === "" ? "" : String((JSON.parse(payload) as { readonly jti?: string }).jti);
}
