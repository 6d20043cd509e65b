/**
 * One row of the security bar: an attack or a fault, and the required outcome. The lists beside
 * this file contain the rows; list.ts joins them, coverage.test.ts compares them with the tests,
 * and docs/security-requirements.md is generated from them.
 */

export interface Requirement {
  /** Family and number: tests cite it as `bar#CB-6`, code as `//= bar#CB-6`. */
  readonly id: string;
  /** One or two sentences: the attack or fault, and the required outcome. */
  readonly text: string;
  /** Paths from the root; empty when the row is not ours. */
  readonly testedIn: readonly string[];
  /** The same attack succeeds here with one defence replaced. */
  readonly twinIn?: string;
  /** Why there is no test. */
  readonly notOurs?: string;
}

export function row(id: string, text: string, ...testedIn: string[]): Requirement {
  return { id, text, testedIn };
}

export function twin(id: string, text: string, twinIn: string, ...testedIn: string[]): Requirement {
  return { id, text, testedIn: [...testedIn, twinIn], twinIn };
}

export function notOurs(id: string, text: string, why: string): Requirement {
  return { id, text, testedIn: [], notOurs: why };
}

export const FLOWS = "apps/broker/src/flows";
export const PROTOCOL = "packages/oauth-core/src/protocol";
export const SERVER = "packages/oauth-core/src/authorization-server";
export const EGRESS = "packages/oauth-core/src/egress";
export const VENDOR = "packages/oauth-core/src/vendor-client";
export const STORE = "packages/token-store/src";
export const HOSTED = "packages/mcp-auth/src/hosted";
export const SCENARIOS = "e2e/scenarios";

export const attack = (family: string): string => `e2e/attacks/${family}.attack.test.ts`;
