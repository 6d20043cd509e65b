/** How measurements of one thing spread. */

/** Of at least one value. */
export interface Spread {
  readonly min: number;
  /** Lower quartile. */
  readonly lower: number;
  readonly median: number;
  /** Upper quartile. */
  readonly upper: number;
  readonly max: number;
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const at = (share: number): number => quantileOf(values, share);
  return { min: at(0), lower: at(0.25), median: at(0.5), upper: at(0.75), max: at(1) };
}

/** @param values at least one */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}
