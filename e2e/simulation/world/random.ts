/** Numbers from a seed: the same seed, the same numbers (mulberry32). */

export interface Random {
  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number;
  /** True in about `percent` of a hundred calls. */
  happens(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    happens: (percent) => next() * 100 < percent,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new RangeError("nothing to pick from");
      return one;
    },
  };
}
