/**
 * What ends a vendor tool before its work is done: a message for the terminal, and an exit code.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { isEgressError, requireEgressUrl } from "@oauth-broker/oauth-core/egress";

/** The exit code of all three commands: invalid arguments, or no answer. */
export const NOT_ASKED = 2;
/** The vendor's answer was wrong. */
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

/** @throws Refusal that names the option */
export function requireOptionUrl(option: string, url: string, allowLoopback: boolean): URL {
  try {
    return requireEgressUrl(url, { allowLoopback });
  } catch (error) {
    if (error instanceof OAuthError) throw refusal(`${option}: ${error.description}`);
    throw error;
  }
}

/**
 * What is wrong, in one line: our error, the cause, and the vendor's error code. Contains nothing
 * else of the answer.
 */
export function explain(error: unknown): string {
  if (!(error instanceof OAuthError)) throw error;
  const { code, description, detail, extras, cause } = error;
  const network = isEgressError(cause) ? `${cause.kind}, ${cause.detail}` : undefined;
  const more = [extras.reason, extras.vendorError, detail, network].filter((part) => part !== undefined);
  return `${code}: ${description}${more.length === 0 ? "" : ` (${more.join("; ")})`}`;
}
