/**
 * What a user does at `/connections`: signs in there, ends the link of the tool's vendor and makes
 * it again, with a second tab and with Back.
 */
import type { Answer } from "../world/answer.ts";
import { formWith } from "./browser.ts";
import { chance, perhapsTwice } from "./habits.ts";
import { type Seat, walk } from "./mcp-client.ts";

const PATH = "/connections";
const VENDOR = "acme";

export async function visitConnections(seat: Seat): Promise<void> {
  const page = await openConnections(seat);
  if (page === undefined) return;
  if (chance(seat, 60)) await disconnect(seat, page);
  else await connectAgain(seat, page);
}

/** @returns the page of the signed-in user */
export async function openConnections(seat: Seat): Promise<Answer | undefined> {
  const page = await seat.browser.open(PATH);
  if (page?.status !== 200) return undefined;
  const signIn = formWith(page.text, "sign_in");
  if (signIn["csrf"] === undefined) return page;
  const left = await seat.browser.submit(PATH, { ...signIn, action: "sign_in" });
  const { page: back } = await walk(seat, PATH, left);
  return back?.status === 200 && formWith(back.text, "sign_in")["csrf"] === undefined ? back : undefined;
}

/** The form with this button for the tool's vendor. */
export function formAt(page: Answer, button: string): Readonly<Record<string, string>> {
  return formWith(page.text, button, VENDOR);
}

export function isDisconnected(answer: Answer | undefined): boolean {
  return answer?.to?.searchParams.get("disconnected") === VENDOR;
}

async function disconnect(seat: Seat, page: Answer): Promise<void> {
  const { browser, user, asker, world } = seat;
  const form = formAt(page, "disconnect");
  if (form["csrf"] === undefined) return;
  const submit = (): Promise<Answer | undefined> => browser.submit(PATH, { ...form, action: "disconnect" });
  const beganMs = world.scheduler.nowMs();
  const answers = await perhapsTwice(seat, 25, submit);
  const to = answers.find(isDisconnected)?.to;
  if (to === undefined) return;
  world.vendors.get(`${VENDOR}.example`)?.disconnected(user, beganMs);
  const shown = await browser.open(to.pathname + to.search);
  if (shown?.status === 200 && formAt(shown, "connect")["csrf"] === undefined) {
    world.promises.broke(`${asker.name} was not told that the link has ended`);
  }
  // Back, to the page as it was.
  if (chance(seat, 30) && isDisconnected(await submit())) world.promises.broke("one page ended a link twice");
}

async function connectAgain(seat: Seat, page: Answer): Promise<void> {
  const again = formAt(page, "reconnect");
  const [action, form] = again["csrf"] === undefined ? ["connect", formAt(page, "connect")] : ["reconnect", again];
  const submit = (): Promise<Answer | undefined> => seat.browser.submit(PATH, { ...form, action });
  const left = await perhapsTwice(seat, 25, submit);
  await Promise.all(left.map((answer) => walk(seat, PATH, answer)));
}
