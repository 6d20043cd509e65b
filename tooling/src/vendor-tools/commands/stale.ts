/**
 * `vendor probe --all`: which entries should be looked at again, because their facts are old or the
 * vendor ends something soon. Sends nothing: to ask a vendor is `vendor probe ID`.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import { REGISTRY, type RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { dateOf } from "../date.ts";
import type { Environment } from "../environment.ts";

interface StaleOptions {
  readonly staleDays: number;
  readonly json: boolean;
}

interface Stale {
  readonly vendor: string;
  /** The end of a sentence for each. */
  readonly reasons: readonly string[];
}

/** @returns the exit code: 1 when there is something to look at */
export function runStale({ staleDays, json }: StaleOptions, { now, print, tell }: Environment): number {
  const stale = staleEntries(REGISTRY.values(), staleDays, now);
  if (json) print(JSON.stringify({ vendors: stale }, null, 2));
  else for (const { vendor, reasons } of stale) print(`${vendor}  ${reasons.join("; ")}`);
  tell(
    `${stale.length} of ${REGISTRY.size} vendors to look at: facts of ${staleDays} days ago or older, or an end near`,
  );
  return stale.length === 0 ? 0 : 1;
}

const DAY_SECONDS = 86_400;

/**
 * The entries with facts from `staleDays` ago or earlier, oldest first, and those if the vendor
 * ends something within as many days, or has since.
 */
export function staleEntries(entries: Iterable<RegistryEntry>, staleDays: number, now: Clock): Stale[] {
  const oldest = dateOf(() => now() - staleDays * DAY_SECONDS);
  const soon = dateOf(() => now() + staleDays * DAY_SECONDS);
  return [...entries]
    .toSorted((one, other) => one.verification.checkedOn.localeCompare(other.verification.checkedOn))
    .flatMap(({ vendor, verification: { checkedOn, checks = {} }, sunsets = [] }): Stale[] => {
      const reasons = [
        ...(checkedOn <= oldest ? [`facts of ${checkedOn}`] : []),
        ...Object.entries(checks).flatMap(([name, check]) =>
          check.checkedOn <= oldest ? [`${name} of ${check.checkedOn}`] : [],
        ),
        ...sunsets.flatMap(({ endsOn, what }) => (endsOn <= soon ? [`ends ${what} on ${endsOn}`] : [])),
      ];
      return reasons.length === 0 ? [] : [{ vendor: vendor.id, reasons }];
    });
}
