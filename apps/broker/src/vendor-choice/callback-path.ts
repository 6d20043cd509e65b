/**
 * The path a vendor sends the browser back to. A vendor that a caller names (tier 3) has its own
 * path. An honest vendor sees only the redirect URI of its flow, so its code cannot reach a
 * flow of such a vendor. The flow record holds the path, and an answer is accepted on that path
 * only.
 */
import { createHmac } from "node:crypto";

export const CALLBACK_PATH = "/v1/callback";

/**
 * Returns the callback path of a context; without a context the path that all configured vendors
 * share. Neither path lies beneath the other, because some vendors accept any path below the
 * registered one (docs/decisions/0029).
 */
//= bar#XA-4
export function callbackPath(context?: string): string {
  return context === undefined ? CALLBACK_PATH : `/v1/custom/${context}/callback`;
}

export interface CallbackContext {
  /** The broker's client that makes the request. */
  readonly clientId: string;
  readonly vendor: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly vendorClientId: string;
}

/** 128 bits, so that the redirect URI stays short in vendors' forms. */
const BYTES = 16;
const CONTEXT = /^[\w-]{22}$/;

/**
 * @param key never rotates: with another key every custom vendor would have to be registered again
 */
export function callbackContext(context: CallbackContext, key: Buffer): string {
  const { clientId, vendor, authorizationEndpoint, tokenEndpoint, vendorClientId } = context;
  const mac = createHmac("sha256", key).update("callback-context-1");
  for (const field of [clientId, vendor, authorizationEndpoint, tokenEndpoint, vendorClientId]) {
    mac.update(`${Buffer.byteLength(field)}:${field}`);
  }
  return mac.digest().subarray(0, BYTES).toString("base64url");
}

/** Whether a path segment has the format of a context. */
export function isContext(segment: string): boolean {
  return CONTEXT.test(segment);
}
