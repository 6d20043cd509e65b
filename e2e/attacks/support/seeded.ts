/**
 * Random values that repeat in every run: the seed finds a failing interleaving or fuzzed request
 * again.
 */

export interface Seeded {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number at least 0 and below `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  shuffled<T>(values: readonly T[]): T[];
  /** @returns `length` characters of `alphabet` */
  text(alphabet: string, length: number): string;
}

/** Mulberry32: small, and good enough for choosing test cases. Never for anything secret. */
export function createSeeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T => {
    const value = values[below(values.length)];
    if (value === undefined) throw new Error("nothing to pick from");
    return value;
  };
  return {
    next,
    below,
    pick,
    shuffled: (values) => {
      const mixed = [...values];
      for (let last = mixed.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
      }
      return mixed;
    },
    text: (alphabet, length) => {
      const characters = Array.from(alphabet);
      return Array.from({ length }, () => pick(characters)).join("");
    },
  };
}
