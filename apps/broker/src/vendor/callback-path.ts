/**
 * Where a vendor sends the browser back. A vendor that a caller names (tier 3) has a path of its
 * own: an honest vendor knows only the redirect URI it was given, so its code cannot arrive in a
 * flow of such a vendor. The flow's record keeps the path, and an answer counts there alone.
 */
import { createHmac } from "node:crypto";

export const CALLBACK_PATH = "/v1/callback";

/**
 * The path a context's answers come to; without one the path of every vendor of the configuration.
 * Neither lies beneath the other: some vendors accept any path below the registered one
 * (docs/decisions/0029).
 */
//= bar#XA-4
export function callbackPath(context?: string): string {
  return context === undefined ? CALLBACK_PATH : `/v1/custom/${context}/callback`;
}

export interface CallbackContext {
  /** The client of ours that asks. */
  readonly clientId: string;
  readonly vendor: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly vendorClientId: string;
}

/** 128 bits, so that it stays short in the forms of vendors. */
const BYTES = 16;
const CONTEXT = /^[\w-]{22}$/;

/** @param key never rotates: with another one every custom vendor would have to be registered anew */
export function callbackContext(context: CallbackContext, key: Buffer): string {
  const { clientId, vendor, authorizationEndpoint, tokenEndpoint, vendorClientId } = context;
  const mac = createHmac("sha256", key).update("callback-context-1");
  for (const field of [clientId, vendor, authorizationEndpoint, tokenEndpoint, vendorClientId]) {
    mac.update(`${Buffer.byteLength(field)}:${field}`);
  }
  return mac.digest().subarray(0, BYTES).toString("base64url");
}

/** Whether a path segment may be a context at all. */
export function isContext(segment: string): boolean {
  return CONTEXT.test(segment);
}
