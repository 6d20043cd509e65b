/** One row of the security bar, and how the lists of rows name them. requirements.ts and those beside it fill them in. */

export interface Requirement {
  readonly id: string;
  readonly behaviour: string;
  /** Paths from the root; empty where the row is not ours. */
  readonly testedIn: readonly string[];
  /** The same attack succeeds here with one defence replaced. */
  readonly twinIn?: string;
  /** Why there is nothing to test. */
  readonly outOfScope?: string;
}

export function row(id: string, behaviour: string, ...testedIn: string[]): Requirement {
  return { id, behaviour, testedIn };
}

export function twin(id: string, behaviour: string, twinIn: string, ...testedIn: string[]): Requirement {
  return { id, behaviour, testedIn: [...testedIn, twinIn], twinIn };
}

export function elsewhere(id: string, behaviour: string, outOfScope: string): Requirement {
  return { id, behaviour, testedIn: [], outOfScope };
}
