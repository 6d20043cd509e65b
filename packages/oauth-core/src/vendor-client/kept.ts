/**
 * What a flow and a grant keep, to be compared or repeated later. A flow keeps a hash of everything
 * that decides where codes and secrets go: one that began with one client, vendor or set of
 * endpoints cannot continue with another. A grant keeps the hosts that were the vendor's when it
 * was made: its tokens are sent to no other, even if the configuration has changed. If the
 * vendor requires parameters of the callback again with every refresh, it keeps those too.
 */
import { hash } from "node:crypto";
import { oncePerObject } from "../mechanics/expiring-map.ts";
import { OAuthError } from "../protocol/errors.ts";
import { addressOf, CHECK_FIELDS, FLOW_FIELDS, GRANT_FIELDS } from "../registry/fields.ts";
import type { ResolvedVendor, Vendor } from "../registry/vendor.ts";

/** What a flow must not change between its legs. */
export interface FlowContext {
  readonly vendor: ResolvedVendor;
  /** Our client id at the vendor. */
  readonly clientId: string;
  readonly credentialsId: string;
  /** Our client that made the request. */
  readonly platformClientId: string;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
  /** The values of the entry's placeholders. */
  readonly placeholders?: Readonly<Record<string, string>>;
}

/** @returns SHA-256 over the fields, each with its length before it, base64url, 43 characters */
//= bar#XA-5
//= bar#DI-3
export function flowContextHash(context: FlowContext): string {
  const { vendor } = context;
  let text = "";
  for (const field of [
    "connection-context-1",
    vendor.id,
    ...FLOW_FIELDS.map((name) => vendor[name]),
    context.clientId,
    context.credentialsId,
    context.platformClientId,
    context.redirectUri,
    // Placeholders come after the fields that are always there, so that a flow without any keeps
    // the hash of earlier releases.
    ...Object.entries(context.placeholders ?? {})
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flat(),
  ]) {
    // An absent field is not an empty one.
    text += field === undefined ? "-:" : `${Buffer.byteLength(field)}:${field}`;
  }
  return hash("sha256", text, "base64url");
}

type Pinned = Pick<ResolvedVendor, (typeof GRANT_FIELDS)[number] | (typeof CHECK_FIELDS)[number]>;

/** What a grant keeps of the vendor that made it. */
export interface Kept {
  /**
   * Hosts, with a port that is not the scheme's own, of the token, refresh and revocation
   * endpoints, each once.
   */
  readonly hosts: readonly string[];
  /** Hosts of the endpoints that say whether an access token is good (access-token/check.ts). */
  readonly checkHosts: readonly string[];
  /** What a refresh repeats of the callback; absent if that is nothing. */
  readonly callbackData?: Readonly<Record<string, string>>;
}

/** @param callbackData the parameters of the callback that the vendor requires in token requests */
export function keptOf(
  vendor: Pinned & Pick<ResolvedVendor, "refreshCallbackParams">,
  callbackData: Readonly<Record<string, string>> = {},
): Kept {
  const kept = repeated(vendor.refreshCallbackParams, callbackData);
  return {
    ...hostsOf(vendor),
    ...(Object.keys(kept).length === 0 ? {} : { callbackData: kept }),
  };
}

const hostsOf = oncePerObject((vendor: Pinned): Pick<Kept, "hosts" | "checkHosts"> => ({
  hosts: hostsIn(vendor, GRANT_FIELDS),
  checkHosts: hostsIn(vendor, CHECK_FIELDS),
}));

/** In the table's order, each once; a template of our client id in a path has a host too. */
function hostsIn(vendor: Partial<Vendor>, fields: readonly (keyof Vendor)[]): string[] {
  return [...new Set(fields.flatMap((name) => URL.parse(addressOf(vendor, name) ?? "")?.host ?? []))];
}

/**
 * @param hosts as `keptOf` returned them when the grant was made
 * @param endpoint the one about to receive a token; undefined when the vendor has none, which the
 *   caller refuses
 * @throws OAuthError invalid_grant, reason `connection_endpoint_changed`
 */
//= bar#BY-4
export function requireTokenHost(hosts: readonly string[], endpoint: string | undefined): void {
  if (endpoint === undefined || hosts.includes(new URL(endpoint).host)) return;
  throw new OAuthError("invalid_grant", "The vendor's endpoint moved: the user must authorize again", {
    reason: "connection_endpoint_changed",
  });
}

/** @returns the parameters of the callback that a token request repeats by these names */
export function repeated(
  names: readonly string[] = [],
  callbackData: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const sent = Object.entries(callbackData).filter(([name]) => names.includes(name));
  // An empty parameter counts as absent (rfc6749#3.2).
  return Object.fromEntries(sent.filter(([, value]) => value !== ""));
}
