/**
 * Measures a store or a key service from outside: every call that takes time is reported with its
 * duration and whether it failed. What is stored, and for which user, is not reported.
 */

/** One call, over. */
export interface StorageTiming {
  /** The users' tokens, the server's records, or the key service. */
  readonly part: "tokens" | "records" | "keys";
  /** The name of a method of that part: `get`, `change`, `unwrap`, … */
  readonly operation: string;
  readonly seconds: number;
  readonly outcome: "ok" | "failed";
}

/** @returns the same object when nothing is measured */
export function timed<Part extends object>(
  target: Part,
  part: StorageTiming["part"],
  onTiming: ((timing: StorageTiming) => void) | undefined,
): Part {
  if (onTiming === undefined) return target;
  return new Proxy(target, {
    get: (object, name) => {
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== "function" || typeof name !== "string") return member;
      return (...input: unknown[]): unknown => {
        const startedAt = performance.now();
        const report = (outcome: StorageTiming["outcome"]): void =>
          onTiming({ part, operation: name, seconds: (performance.now() - startedAt) / 1000, outcome });
        const result: unknown = Reflect.apply(member, object, input);
        // A list is read by its caller, row by row: its duration is the caller's.
        if (!(result instanceof Promise)) return result;
        result.then(
          () => report("ok"),
          () => report("failed"),
        );
        return result;
      };
    },
  });
}
