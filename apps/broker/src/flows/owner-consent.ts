/**
 * When a user is asked before the browser leaves (bar XA-9), and what ties the page's form to the flow and to the browser it was
 * shown to: an HMAC under the binding cookie, which only that browser holds and no script reads. Nothing is stored, and a reload
 * of the page gives the same token. Callers: open-vendor.ts shows the page, owner-decision.ts takes the answer.
 */
import type { BindingCookie } from "@oauth-broker/oauth-core";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Deps } from "../deps.ts";
import type { Flow } from "./flow-record.ts";

/** Credentials of the client's own are nobody else's, whoever uses the vendor. */
//= bar#XA-9
export function needsOwnerPage(flow: Flow, { vendors }: Pick<Deps, "vendors">): boolean {
  return flow.credentialsSource !== "byoc" && vendors.get(flow.vendor)?.needsOwnerPage === true;
}

/** @returns 43 base64url characters, which do not tell the cookie */
export function csrfToken(flowId: string, { value }: BindingCookie): string {
  return createHmac("sha256", value).update(`owner-page\0${flowId}`).digest("base64url");
}

//= bar#XA-9
export function isCsrfToken(sent: string | undefined, flowId: string, cookie: BindingCookie): boolean {
  const given = Buffer.from(sent ?? "");
  const expected = Buffer.from(csrfToken(flowId, cookie));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
