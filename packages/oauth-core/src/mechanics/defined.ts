/** Optional members: an unknown value is absent, never `undefined` (exactOptionalPropertyTypes). */

/** The members of `T`; those that may be undefined are optional. */
export type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** @returns a copy without the members that are undefined; null and empty values stay */
export function defined<T extends object>(members: T): Defined<T> {
  // Runs many times in a flow, and this loop costs a quarter of Object.fromEntries over entries.
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const value: unknown = members[name as keyof T];
    if (value !== undefined) copy[name] = value;
  }
  return copy as Defined<T>;
}
