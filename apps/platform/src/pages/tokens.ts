/** A user's tokens at a vendor without a server, masked, and what can be done with them. */
import type { Tokens } from "@oauth-broker/broker-client";
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import { idTokenSubject } from "@oauth-broker/oauth-core/vendor-client";
import { hidden, html, type Markup } from "@oauth-broker/service/page";
import type { Connector } from "../connectors/connector.ts";
import type { RevocableToken } from "../oauth/client-of-connector.ts";
import type { SignedIn } from "../users/session.ts";
import { form } from "./layout.ts";

export function tokensPanel(
  { id, name }: Connector,
  { tokens, now }: { readonly tokens: Tokens; readonly now: EpochSeconds },
  { cookie }: SignedIn,
): Markup {
  const { accessToken, refreshToken, tokenType, vendor, vendorData, vendorIdToken, connection } = tokens;
  const user = vendorIdToken === undefined ? undefined : idTokenSubject(vendorIdToken, { issuerSpelling: "exact" });
  const facts: readonly [term: string, fact: Markup | string][] = [
    ["Access token", masked(accessToken, `, type ${tokenType}`)],
    ["Valid for", lifetime(tokens.expiresAt, now)],
    ["Refresh token", refreshToken === undefined ? "none" : masked(refreshToken)],
    ...(refreshToken === undefined
      ? []
      : [["Refresh token valid for", lifetime(tokens.refreshTokenExpiresAt, now)] satisfies [string, string]]),
    [
      "ID token",
      user === undefined ? "none" : html`<code>iss</code> ${user.issuer}<br><code>sub</code> ${user.subject}`,
    ],
    ["Vendor", html`<code>${vendor}</code>`],
    // The broker takes tokens out of it, so it is shown as it came.
    [
      "Vendor data",
      Object.keys(vendorData).length === 0 ? "nothing more" : html`<pre>${JSON.stringify(vendorData, null, 2)}</pre>`,
    ],
    ["Connection", masked(connection, ", sealed: names the vendor and the credentials of the tokens")],
  ];
  const button = (action: string, label: string, token?: RevocableToken): Markup =>
    form(
      `/connectors/${id}/${action}`,
      cookie,
      html`${token && hidden("token", token)}<button class="button plain" type="submit">${label}</button>`,
    );
  return html`<section aria-labelledby="tokens"><h2 id="tokens">Your tokens</h2>
<p class="quiet">Real tokens of ${name}, masked here. They went from the vendor to this platform's backend, never through your browser.</p>
<dl>${facts.map(([term, fact]) => html`<div><dt>${term}</dt><dd class="plain">${fact}</dd></div>`)}</dl>
<div class="row">${refreshToken === undefined ? undefined : button("refresh", "Refresh")}
${button("revoke", "Revoke access token", "access_token")}
${refreshToken === undefined ? undefined : button("revoke", "Revoke refresh token", "refresh_token")}</div></section>`;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** @returns e.g. "8 hours", in the largest unit of which there are two */
function lifetime(expiresAt: EpochSeconds | undefined, now: EpochSeconds): string {
  if (expiresAt === undefined) return "the vendor did not say";
  const seconds = Math.max(0, expiresAt - now);
  const [unit, size] = UNITS.find(([, of]) => seconds >= 2 * of) ?? ["second", 1];
  const format = new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" });
  return format.format(Math.floor(seconds / size));
}

/** Enough to see that another one arrived, not enough to use it. */
function masked(token: string, more = ""): Markup {
  return html`<code>${token.slice(0, 6)}…</code> <span class="quiet">${token.length} characters${more}</span>`;
}
