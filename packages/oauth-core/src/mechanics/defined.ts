/** Optional members: an unknown value is absent, never `undefined` (exactOptionalPropertyTypes). */

/** The members of `T`; those that may be undefined are optional. */
export type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** @returns a copy without the members that are undefined; null and empty values stay */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
