/**
 * The human-readable page at `/`: what this service is, which vendors work, and links to
 * the machine-readable descriptions.
 */
import type { VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { CALLBACK_PATH } from "../vendor-choice/callback-path.ts";
import { html, type Markup, page } from "@oauth-broker/service/page";

export function homePage(
  { vendors, issuer }: Pick<Deps, "vendors" | "issuer">,
  sandboxUrl: string | undefined,
): string {
  const enabled = [...vendors.values()].filter(({ vendor }) => vendor.enabled);
  const ours = enabled.filter(isOurs);
  const others = enabled.filter((entry) => !isOurs(entry));
  const content = html`<p>This service connects a platform to its users' accounts at other vendors. It runs the OAuth flow and hands the vendor's tokens to the platform; it keeps none.</p>
<p>You do not sign in here. An application sends you to this service on your way to a vendor.</p>
${sandboxUrl === undefined ? undefined : html`<p><a class="button" href="${sandboxUrl}">Try a whole flow in the sandbox</a></p>`}
<h2>Vendors</h2>
${enabled.length === 0 ? html`<p>No vendor is enabled yet.</p>` : undefined}
${ours.length === 0 ? undefined : vendorTable(ours)}
${others.length === 0 ? undefined : html`<details><summary>${others.length} more from the catalogue</summary>${vendorTable(others)}</details>`}
<p class="quiet">All that are known, and what each can do: <a href="/v1/vendors">/v1/vendors</a>. Why one of them is off: <code>/v1/vendors/ID</code></p>
<h2>For machines</h2>
<p><a href="/.well-known/oauth-authorization-server">Authorization server metadata</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/v1/vendors">Vendors</a> · <a href="/readyz">Readiness</a></p>
<p class="quiet">Redirect URI to register at vendors: <code>${issuer}${CALLBACK_PATH}</code></p>`;
  return page("OAuth broker", content);
}

/**
 * The vendors this broker is run for: those the operator configured, and those with a separate
 * file. The others are a long list.
 */
function isOurs({ verification, credentials }: VendorConfig): boolean {
  return verification === undefined || verification.status === "first-class" || credentials.length > 0;
}

function vendorTable(entries: readonly VendorConfig[]): Markup {
  const rows = entries.map(({ vendor }) => html`<tr><td>${vendor.name}</td><td><code>${vendor.id}</code></td></tr>`);
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">Id</th></tr></thead><tbody>${rows}</tbody></table>`;
}
