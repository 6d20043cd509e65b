/**
 * Knowing one's own write again. An answer that was lost makes the same request run twice, and the second time its
 * condition no longer holds: without this, the one who won would be told that somebody else had. Every write leaves a random
 * id of its own in the item; who meets that id has met himself.
 */
import { randomUUID } from "node:crypto";
import type { Item } from "./item.ts";

export const ATTEMPT = "attempt";

/** One for each call of a store, the same over all its tries. */
export function newAttempt(): string {
  return randomUUID();
}

/** @param item as it is now, which is as the write left it unless somebody has changed it since */
export function isOwnAttempt(item: Item | undefined, attempt: string): boolean {
  //= bar#CB-4
  return item?.[ATTEMPT]?.S === attempt;
}
