/** A check of a text by a regular expression, which a JSON Schema can repeat. */
export interface PatternCheck {
  /** @returns what is wrong, as the end of a sentence (`must be …`); undefined: nothing */
  (value: string): string | undefined;
  readonly pattern: RegExp;
}

/** @param problem the end of a sentence (`must be …`) */
export function matching(pattern: RegExp, problem: string): PatternCheck {
  return Object.assign((value: string) => (pattern.test(value) ? undefined : problem), { pattern });
}
