/**
 * Random choices that repeat in every run: the seed finds a failing interleaving, fuzzed request or
 * simulated run again. Never for anything secret.
 */
import { seededNumbers } from "../../packages/simulators/src/aws/seeded.ts";

export type Seeded = ReturnType<typeof createSeeded>;
export type Random = Pick<Seeded, "below" | "happens" | "pick">;
export function createSeeded(seed: number) {
  const next = seededNumbers(seed);
  const below = (count: number): number => Math.floor(next() * count);
  const pick = <T>(list: readonly T[]): T => {
    const one = list[below(list.length)];
    if (one === undefined) throw new RangeError("nothing to pick from");
    return one;
  };
  return {
    /** A whole number from 0 up to that, not including it. */
    below,
    /** True in about `percent` of a hundred calls. */
    happens: (percent: number) => next() * 100 < percent,
    pick,
    shuffled: <T>(values: readonly T[]): T[] => {
      const mixed = [...values];
      for (let last = mixed.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
      }
      return mixed;
    },
    /** @returns `length` characters of `alphabet` */
    text: (alphabet: string, length: number) => {
      const characters = Array.from(alphabet);
      return Array.from({ length }, () => pick(characters)).join("");
    },
  };
}
