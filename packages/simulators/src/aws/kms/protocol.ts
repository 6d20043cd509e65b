/**
 * AWS JSON 1.1 as KMS uses it: which operation, in which Region, with what input. Everything the
 * SDK's own middleware should have put on the request is checked, except that a signature is parsed
 * and not verified.
 */
import type { IncomingHttpHeaders } from "node:http";
import { kmsError } from "./errors.ts";
import type { Input } from "./members.ts";

export const CONTENT_TYPE = "application/x-amz-json-1.1";
const TARGET_PREFIX = "TrentService.";
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=[^/, ]+\/(?<date>\d{8})\/(?<region>[a-z0-9-]+)\/(?<service>[a-z0-9-]+)\/aws4_request, ?SignedHeaders=(?<signed>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}$/;

/** @returns the operation's name, known or not; undefined when the request names none */
export function operationOf(headers: IncomingHttpHeaders): string | undefined {
  const target = headers["x-amz-target"];
  return typeof target === "string" && target.startsWith(TARGET_PREFIX)
    ? target.slice(TARGET_PREFIX.length)
    : undefined;
}

/**
 * @returns the Region of the credential scope: one server acts as the endpoints of all Regions
 * @throws Error with KMS's name when the request is not signed, or for another service
 */
export function regionOf(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    throw kmsError("MissingAuthenticationTokenException", "Missing Authentication Token");
  }
  const scope = AUTHORIZATION.exec(authorization)?.groups;
  const signed = scope?.["signed"]?.split(";") ?? [];
  const date = headers["x-amz-date"];
  if (scope === undefined || !signed.includes("host") || typeof date !== "string") {
    throw kmsError("IncompleteSignatureException", "The Authorization header is not complete");
  }
  if (scope["service"] !== "kms" || !date.startsWith(`${scope["date"]}T`)) {
    throw kmsError("InvalidSignatureException", "Credential should be scoped to correct service: 'kms', and date.");
  }
  return scope["region"] ?? "";
}

/** @throws Error named SerializationException unless the body is a JSON object */
export function inputOf(body: string): Input {
  let input: unknown;
  try {
    input = JSON.parse(body);
  } catch {
    throw kmsError("SerializationException");
  }
  if (typeof input !== "object" || input === null || Array.isArray(input)) throw kmsError("SerializationException");
  return input as Input;
}
