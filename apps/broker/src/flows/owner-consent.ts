/**
 * When a user is asked before the browser leaves (bar XA-9), and what ties the page's form to the flow and to the browser it was
 * shown to. Callers: open-vendor.ts shows the page, owner-decision.ts takes the answer.
 */
import { type BindingCookie, formToken, isFormToken } from "@oauth-broker/oauth-core";
import type { Deps } from "../deps.ts";
import type { Flow } from "./flow-record.ts";

/** Credentials of the client's own are nobody else's, whoever uses the vendor. */
//= bar#XA-9
export function needsOwnerPage(flow: Flow, { vendors }: Pick<Deps, "vendors">): boolean {
  return flow.credentialsSource !== "byoc" && vendors.get(flow.vendor)?.needsOwnerPage === true;
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
