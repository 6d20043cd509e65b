/**
 * Asked before the browser leaves for a vendor whose credentials clients of several owners share: the vendor knows only us,
 * so nobody else tells the user who will be given the tokens. A plain form, no script. Shown, and its answer taken,
 * by flows/authorize.ts.
 */
import { type Answer, formPageAnswer } from "@oauth-broker/oauth-core/hono";
import type { ClientConfig } from "../config.ts";
import { escapeHtml, page, STYLE_HASH } from "@oauth-broker/oauth-core/service";

export interface OwnerPage {
  readonly client: ClientConfig;
  readonly vendorName: string;
  readonly scope: readonly string[];
  /** Where the user ends up, from the client's registered list. */
  readonly redirectUri: string;
  readonly requestUri: string;
  readonly csrf: string;
  readonly flowId: string;
}

export function ownerPage(shown: OwnerPage, headers: Record<string, string>): Answer {
  const { client, scope, flowId } = shown;
  const application = client.name ?? client.clientId;
  const owner = client.ownerName ?? client.owner;
  const vendor = shown.vendorName;
  const asks = owner === undefined ? application : `${application} of ${owner}`;
  const content = [
    `<p>${escapeHtml(asks)} asks to use your account at ${escapeHtml(vendor)}. Continue only if you came from there and want this.</p>`,
    "<dl>",
    fact("Application", application),
    owner === undefined ? "" : fact("Organization", owner),
    fact("Vendor", vendor),
    scope.length === 0 ? "" : fact("Permissions", scope.join(" ")),
    fact("Leads back to", new URL(shown.redirectUri).host),
    "</dl>",
    `<p>${escapeHtml(vendor)} knows this service, which several organizations use, and may not name ${escapeHtml(application)} itself.</p>`,
    '<form method="post" action="/v1/authorize">',
    hidden("client_id", client.clientId),
    hidden("request_uri", shown.requestUri),
    hidden("csrf", shown.csrf),
    `<button class="button" type="submit" name="decision" value="approve">Continue to ${escapeHtml(vendor)}</button>`,
    '<button class="button plain" type="submit" name="decision" value="deny">Cancel</button>',
    "</form>",
    `<p class="quiet">Flow <code>${escapeHtml(flowId)}</code></p>`,
  ];
  const title = `Connect ${vendor} to ${application}?`;
  return formPageAnswer(page(title, content.filter((line) => line !== "").join("\n")), STYLE_HASH, headers);
}

function fact(term: string, value: string): string {
  return `<div><dt>${term}</dt><dd>${escapeHtml(value)}</dd></div>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}
