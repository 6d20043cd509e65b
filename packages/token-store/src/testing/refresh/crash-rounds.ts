/**
 * Rounds of the crash matrix, refresh/crash.test.ts: a kill at a point, and the callers after it.
 */
import { get } from "node:http";
import { expect } from "vitest";
import type { Round } from "./crash-fixture.ts";
import type { Point } from "./child.ts";
import type { RefreshChild } from "./children.ts";

/** The error for a caller whose user must authorize again. */
export const DEAD = "error invalid_grant reauthorization_required";

/** A caller after the crash gets tokens that the vendor accepts, before its own wait ends. */
export async function expectFresh({ next, vendor, user }: Round): Promise<void> {
  const answer = await next();
  expect(vendor.live(user).accessTokens.map((token) => `token ${token}`)).toContain(answer);
}

/** A process killed at the given point. */
export async function killedAt(point: Point, round: Round): Promise<RefreshChild> {
  const child = await round.start();
  child.call([round.user], { stopAt: point }).catch(() => undefined);
  await child.stopped();
  await child.kill();
  return child;
}

/**
 * The vendor has rotated and the new token is lost: recovered if the vendor allows it, else
 * reported once and never tried again.
 */
export async function expectRecovered(round: Round, child: RefreshChild): Promise<void> {
  if (round.model !== "strict") {
    await expectFresh(round);
    await round.expectSound({ commits: 1, calls: 2 }, child);
    return;
  }
  expect(await round.next()).toBe(DEAD);
  expect(await Promise.all([round.next(), round.next()])).toEqual([DEAD, DEAD]);
  await round.expectSound({ commits: 0, calls: 2, reauthorize: "refresh_lost" }, child);
}

/** What is received until the other side closes. */
export async function readToTheEnd(url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  get(url, (response) => {
    let text = "";
    response.on("data", (part) => {
      text += String(part);
    });
    response.on("error", () => undefined);
    response.on("close", () => resolve(text));
  }).on("error", () => resolve(""));
  return promise;
}
