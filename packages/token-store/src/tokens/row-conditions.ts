/**
 * Row conditions for row-records.ts: what a write expects of a row, and the row after it. Pure.
 */
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";
import { changedAttributes } from "../storage/row-rules.ts";
import type { Attributes, Expected, Row, RowChange } from "../storage/token-rows.ts";
import type { ModeName } from "./token-attributes.ts";

/** These attributes as they were read: absent ones must still be absent. */
export function expectAsRead(attributes: Attributes, names: readonly string[]): Expected {
  return Object.fromEntries(
    names.map((name) => [name, Object.hasOwn(attributes, name) ? attributes[name] : undefined] as const),
  );
}

/** The row after the change. */
export function applied({ key, attributes }: Row, change: RowChange): Row {
  return { key, attributes: changedAttributes(attributes, change) };
}

/** The time-to-live deletes late, up to days: a row past it counts as absent. */
export function isExpired({ ttl }: Attributes, now: EpochSeconds): boolean {
  return typeof ttl === "number" && ttl <= now;
}

/** The mark of a row: the mode that wrote it. Once `encrypted`, always. */
export function markOf({ mode }: Attributes): ModeName | undefined {
  return mode === "bridge" || mode === "encrypted" ? mode : undefined;
}

/** The mark a write in this mode leaves. */
export function nextMark(attributes: Attributes, mode: ModeName): ModeName {
  return markOf(attributes) === "encrypted" ? "encrypted" : mode;
}

/** Raised when a user links or ends the link; a refresh leaves it as it is. */
export const LINK_VERSION = "link_version";

/** @returns 0 if no link existed, or its end was long ago */
export function linkVersionOf(attributes: Attributes, now: EpochSeconds): number {
  const { [LINK_VERSION]: version } = attributes;
  return typeof version === "number" && !isExpired(attributes, now) ? version : 0;
}

/** The next link version; counted on from an ended link whose row is still there. */
export function nextLinkVersion({ [LINK_VERSION]: version }: Attributes): number {
  return (typeof version === "number" ? version : 0) + 1;
}

/** When a link was ended last. A link that is made later leaves it as it is. */
const LINK_ENDED_AT = "link_ended_at";
/** The same in milliseconds. A release before it writes the seconds alone. */
const LINK_ENDED_AT_MS = "link_ended_at_ms";

/** @returns the attributes of an end at this moment; with a clock of seconds, at the end of its second */
export function endAttributes(now: Clock): Attributes {
  const milliseconds = now.milliseconds?.() ?? lastOf(now());
  return { [LINK_ENDED_AT]: Math.floor(milliseconds / 1000), [LINK_ENDED_AT_MS]: milliseconds };
}

/** @returns in milliseconds: the last that it can have been */
export function linkEndOf({ [LINK_ENDED_AT]: seconds, [LINK_ENDED_AT_MS]: exact }: Attributes): number | undefined {
  if (typeof seconds !== "number") return undefined;
  const isOfSameEnd = typeof exact === "number" && Math.floor(exact / 1000) === seconds;
  return isOfSameEnd ? exact : lastOf(seconds);
}

function lastOf(second: EpochSeconds): number {
  return second * 1000 + 999;
}
