/** The size of a test that repeats the same assertion: rounds, rows, callers. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Set by scripts/vitest-config.ts. */
    readonly isSoak: boolean;
  }
}

/**
 * @param size.test what `npm test` does: small, with the same assertions
 * @param size.soak what `npm run test:soak` does
 */
export function volume<Value>({ test, soak }: { readonly test: Value; readonly soak: Value }): Value {
  return inject("isSoak") ? soak : test;
}
