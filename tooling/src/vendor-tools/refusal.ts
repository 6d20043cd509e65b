/** What ends a vendor tool before its work is done: a sentence for the person at the terminal, and an exit code. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isEgressError } from "@oauth-broker/oauth-core/egress";

/** Of all three commands: bad words, or nobody to be asked. */
export const NOT_ASKED = 2;
/** The vendor answered, and not as it should. */
export const WRONG = 1;

export interface Refusal extends Error {
  readonly name: "Refusal";
  readonly exitCode: number;
}

export function refusal(message: string, exitCode: number = NOT_ASKED): Refusal {
  return Object.assign(new Error(message), { name: "Refusal" as const, exitCode });
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === "Refusal";
}

/** What is wrong, in one line: our error, why, and what the vendor called it. Holds nothing of an answer beside that code. */
export function explain(error: unknown): string {
  if (!(error instanceof OAuthError)) throw error;
  const { code, description, detail, extras, cause } = error;
  const network = isEgressError(cause) ? `${cause.kind}, ${cause.detail}` : undefined;
  const more = [extras.reason, extras.vendorError, detail, network].filter((part) => part !== undefined);
  return `${code}: ${description}${more.length === 0 ? "" : ` (${more.join("; ")})`}`;
}
