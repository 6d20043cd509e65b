/**
 * A BYOC secret between the legs of its flow. From /v1/par until the browser is back it lies in the flow record, sealed under
 * the keyset; then it moves into the parked value, which only the broker's code opens, and ends with it.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import type { Flow } from "./flow-record.ts";

const PURPOSE = "vendor-secret";

//= bar#BY-1
export function sealVendorSecret(
  flowId: string,
  { source, clientSecret }: VendorCredentials,
  { keyset }: Pick<Deps, "keyset">,
): string | undefined {
  if (source !== "byoc" || clientSecret === undefined) return undefined;
  const { kid, key } = keyset.active(PURPOSE);
  return `${kid}.${seal(key, clientSecret.reveal(), ["flow", flowId, PURPOSE])}`;
}

/** @throws OAuthError temporarily_unavailable when its key is gone, server_error when the record was tampered with */
export async function openVendorSecret(
  flowId: string,
  { vendorSecret }: Pick<Flow, "vendorSecret">,
  { keyset }: Pick<Deps, "keyset">,
): Promise<string | undefined> {
  if (vendorSecret === undefined) return undefined;
  const dot = vendorSecret.indexOf(".");
  const key = await keyset.find(PURPOSE, vendorSecret.slice(0, Math.max(dot, 0)));
  if (key === undefined) throw new OAuthError("temporarily_unavailable", "The keys are not loaded yet");
  try {
    return open(key, vendorSecret.slice(dot + 1), ["flow", flowId, PURPOSE]).toString("utf8");
  } catch (cause) {
    throw new OAuthError("server_error", "Something went wrong on our side", {
      cause,
      detail: "vendorSecret does not open",
    });
  }
}
