/** What users and programs of any world do: wait, try again, ask from several workers at once. */
import { hash, randomUUID } from "node:crypto";
import { type Answer, textIn } from "../world/answer.ts";
import type { World } from "../world/world.ts";

/** Who has them. */
interface Someone {
  readonly world: Pick<World, "random" | "scheduler">;
}

/** What an answer gives, if it gives anything. */
type Read<T> = (answer: Answer | undefined) => T | undefined;

/** How often anything is tried. */
export const ATTEMPTS = 12;

/** Waits for a random time up to that, or not at all if nothing is left to chance. */
export async function pause({ world: { random, scheduler } }: Someone, mostMs: number): Promise<void> {
  if (random !== undefined) await scheduler.wait(random.below(mostMs));
}

/** Never, if nothing is left to chance. */
export function chance({ world: { random } }: Someone, percent: number): boolean {
  return random?.happens(percent) === true;
}

/** At once, from one place or from two: a second tab, a second worker. */
export async function perhapsTwice<T>(someone: Someone, percent: number, ask: () => Promise<T>): Promise<T[]> {
  return Promise.all(chance(someone, percent) ? [ask(), ask()] : [ask()]);
}

/** @returns undefined when it did not come about in that many attempts */
export async function inAttempts<T>(
  someone: Someone,
  attempts: number,
  once: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let left = attempts; left > 0; left -= 1) {
    const found = await once();
    if (found !== undefined) return found;
    await pause(someone, 5_000);
  }
  return undefined;
}

/** Perhaps from two workers at once. @returns what the first of the answers gives */
export async function redeemTogether<T>(
  someone: Someone,
  ask: () => Promise<Answer | undefined>,
  read: Read<T>,
): Promise<T | undefined> {
  const answers = await perhapsTwice(someone, 20, ask);
  return answers.map(read).find((found) => found !== undefined);
}

/** From up to three workers at once, again and again. @returns undefined when an answer says that it is over */
export async function refreshTogether<T>(
  someone: Someone,
  ask: () => Promise<Answer | undefined>,
  { read, isOver }: { readonly read: Read<T>; readonly isOver: (answer: Answer | undefined) => boolean },
): Promise<T | undefined> {
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const workers = 1 + (someone.world.random?.below(3) ?? 0);
    const answers = await Promise.all(Array.from({ length: workers }, ask));
    const next = answers.map(read).find((found) => found !== undefined);
    if (next !== undefined) return next;
    if (answers.some(isOver)) return undefined;
    await pause(someone, 3_000);
  }
  return undefined;
}

/** @returns both texts of an answer that has tokens */
export function bothIn(answer: Answer | undefined, one: string, other: string): readonly [string, string] | undefined {
  if (answer?.status !== 200) return undefined;
  const [first, second] = [textIn(answer.body, one), textIn(answer.body, other)];
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** Of PKCE, 43 characters. */
export function newVerifier(): string {
  return hash("sha256", randomUUID(), "base64url");
}

/** S256 */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}
