/** How measurements of one thing spread. */

export type Spread = ReturnType<typeof spreadOf>;
/** @param values at least one. @returns `lower` and `upper` are quartiles */
export function spreadOf(values: readonly number[]) {
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
