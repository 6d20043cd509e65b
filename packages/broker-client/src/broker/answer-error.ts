/**
 * Translates an error of the broker, as JSON or in a redirect, and an error of oauth4webapi to the
 * one error of this package.
 */
import { systemClock } from "../clock.ts";
import { BrokerClientError, type BrokerClientErrorDetails, invalidResponse } from "../error.ts";
import type { Clock } from "../ports.ts";
import { retryAfterOf } from "../retry-after.ts";
import { parseMembers } from "../json.ts";

type Members = Readonly<Record<string, unknown>>;

/** @throws BrokerClientError unless the response is a success */
export async function requireSuccess(answer: Response, now: Clock = systemClock): Promise<Response> {
  if (answer.ok) return answer;
  const members = parseMembers(await answer.text()) ?? {};
  const retryAfterSeconds = retryAfterOf(answer, now);
  if (textOf(members["error"]) !== undefined) throw errorOf(members, retryAfterSeconds);
  const reason = `status_${answer.status}`;
  // Most likely a proxy in front of the broker.
  if (answer.status >= 500 || answer.status === 429) {
    throw new BrokerClientError("temporarily_unavailable", "The broker is unavailable at the moment", {
      reason,
      retryAfterSeconds: retryAfterSeconds ?? 5,
    });
  }
  throw invalidResponse(reason, "The broker answered with neither a result nor an error");
}

/** @param members with their names on the wire, including `error` */
export function errorOf(members: Members, retryAfterSeconds?: number): BrokerClientError {
  const text = (name: string): string | undefined => textOf(members[name]);
  const details: { -readonly [K in keyof BrokerClientErrorDetails]: BrokerClientErrorDetails[K] | undefined } = {
    reason: text("reason"),
    retry: members["retry"] === "restart" ? "restart" : undefined,
    flowId: text("flow_id"),
    vendorError: text("vendor_error"),
    credentialsSource: text("credentials_source"),
    help: text("help"),
    referenceId: text("reference_id"),
    retryAfterSeconds,
  };
  const known = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  return new BrokerClientError(
    text("error") ?? "invalid_response",
    text("error_description") ?? "The broker gives no description",
    known,
  );
}

/**
 * For a request that spends a code: without the broker's own word that nothing was spent, only a
 * new flow helps.
 */
export function withRestart(error: BrokerClientError): BrokerClientError {
  const { code, description, details } = error;
  const isUnknown = details.reason === "response_lost" || /^status_5\d\d$/.test(details.reason ?? "");
  if (code !== "temporarily_unavailable" || !isUnknown) return error;
  const { retryAfterSeconds: _, ...known } = details;
  return new BrokerClientError(code, description, { ...known, retry: "restart" });
}

/** No content of a response becomes the `cause`: it may be tokens. */
export function translate(error: unknown): BrokerClientError {
  if (error instanceof BrokerClientError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (!code.startsWith("OAUTH_")) throw error;
  return invalidResponse("malformed", "The broker returned an invalid response");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && /^[\x20-\x7e]{1,512}$/.test(value) ? value : undefined;
}
