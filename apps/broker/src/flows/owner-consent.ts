/**
 * When a user is asked before the browser leaves (bar XA-9), and what ties the page's form to the flow and to the browser it was
 * shown to. authorize.ts shows the page and takes the answer.
 */
import { type BindingCookie, formToken, isFormToken } from "@oauth-broker/oauth-core";
import { type ClientConfig, foldClientId, isAt, originsOf } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { VendorChoice } from "./vendor-choice.ts";

/**
 * Whether the vendor knows this flow as a registration of ours that clients of several owners use,
 * the asking client included. Who brought the client id makes no difference. Of credentials of the
 * client's own it is enough that the entry leaves its origins open.
 */
//= bar#XA-9
export function needsOwnerPage(
  { vendor, entry, credentials }: Pick<VendorChoice, "vendor" | "entry" | "credentials">,
  { owner }: Pick<ClientConfig, "owner">,
  { registrations }: Pick<Deps, "registrations">,
): boolean {
  const held = registrations.get(foldClientId(credentials.clientId));
  if (held === undefined) return false;
  const origins = [...originsOf(vendor), ...(entry === undefined ? [] : originsOf(entry.vendor))];
  const same = held.filter((one) => isAt(one, origins) || (one.isOpen && credentials.source === "byoc"));
  return same.length > 0 && new Set([owner, ...same.flatMap(({ owners }) => [...owners.keys()])]).size > 1;
}

export function csrfToken(flowId: string, cookie: BindingCookie): string {
  return formToken(ownerPage(flowId), cookie);
}

//= bar#XA-9
export function isCsrfToken(sent: string | undefined, flowId: string, cookie: BindingCookie): boolean {
  return isFormToken(sent, ownerPage(flowId), cookie);
}

function ownerPage(flowId: string): string {
  return `owner-page\0${flowId}`;
}
