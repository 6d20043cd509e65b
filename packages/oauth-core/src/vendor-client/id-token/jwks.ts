/**
 * Key sets by the address they are published at: vendors' signing keys, and what clients publish of their own. A small
 * cache of ours over jose's look-up: an unknown key is asked for at once, because vendors do rotate between two logins, and
 * never more often than twice a minute. Called by id-token.ts; for clients by client-assertion.ts and encrypted-response.ts.
 */
import { createLocalJWKSet, errors, type CryptoKey, type JWSHeaderParameters } from "jose";
import type { Clock, Fetch, JsonObject } from "../../ports.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { usableKeys } from "./jwks-keys.ts";
import { createRefreshingCache, type RefreshingCache } from "../discovery/cache.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "../errors.ts";

export interface SigningKeys {
  /**
   * The one key of the set that fits the header.
   *
   * @throws OAuthError vendor_response_invalid when none fits, or several and the header does not say which;
   *   temporarily_unavailable when the set cannot be had, or not before the signal fires
   */
  find(jwksUri: string, header: JWSHeaderParameters, signal?: AbortSignal): Promise<CryptoKey>;
}

interface KeySetDeps {
  readonly fetch: Fetch;
  readonly now: Clock;
}

const CALL: VendorCall = { what: "key set", spends: false };

/** Key sets by their address. @param read what is kept of one; thrown errors go to whoever asks */
export function createKeySets<T>(read: (set: JsonObject) => T, { fetch, now }: KeySetDeps): RefreshingCache<T> {
  return createRefreshingCache<T>({
    load: async (jwksUri) => loadKeySet(jwksUri, read, { fetch, now }),
    //= bar#JW-4
    isOutage: (error) => error instanceof OAuthError && error.code === "temporarily_unavailable",
    now,
  });
}

export function createSigningKeys(deps: KeySetDeps): SigningKeys {
  const sets = createKeySets((set) => createLocalJWKSet({ keys: usableKeys(set) }), deps);
  return {
    find: async (jwksUri, header, signal) => {
      const deadline = signal === undefined ? undefined : () => signal;
      const known = await sets.get(jwksUri, deadline);
      try {
        return await known(header);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw noKey(error);
      }
      //= bar#JW-1
      const reloaded = await sets.reload(jwksUri, deadline);
      try {
        return await reloaded(header);
      } catch (error) {
        throw noKey(error);
      }
    },
  };
}

async function loadKeySet<T>(jwksUri: string, read: (set: JsonObject) => T, { fetch, now }: KeySetDeps): Promise<T> {
  try {
    const response = await fetch(jwksUri, {
      headers: { accept: "application/json, application/jwk-set+json" },
      redirect: "manual",
      signal: AbortSignal.timeout(VENDOR_OPERATION_SECONDS * 1000),
    });
    requireAnswer(response, CALL, now);
    if (response.status !== 200) throw invalidVendorResponse(`key set: status ${response.status}`);
    return read(await readObject(response, CALL));
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

function noKey(error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  return invalidVendorResponse(`signing keys: ${error.code}`, { reason: "id_token_invalid" });
}
