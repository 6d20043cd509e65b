/** The tokens that arrived from one vendor, masked, and what can be done with them. */
import { defined } from "@oauth-broker/oauth-core";
import { formToken } from "@oauth-broker/oauth-core/server";
import { html, type Markup } from "@oauth-broker/service/page";
import type { VendorOffer } from "@oauth-broker/simulators";
import type { RevocableToken } from "./flows.ts";
import type { AtVendor, ReceivedTokens, Session } from "./sessions.ts";

export function arrived(
  session: Session,
  { offer, isRevoked = false }: AtVendor & { readonly offer: VendorOffer },
  tokens: ReceivedTokens,
): Markup {
  const { accessToken, refreshToken, tokenType, expiresAt, receivedAt, scope, user, vendor, connection } = tokens;
  const about = { vendor: offer.id };
  return html`<section class="card" aria-labelledby="tokens">
    <h1 id="tokens">Your tokens arrived ${stateTag({ isRevoked })}</h1>
    <p class="soft">
      Real tokens of ${offer.name}, masked here. They went from the vendor to this platform's backend, never through
      your browser.
    </p>
    <dl>
      <dt>Access token</dt>
      <dd>${masked(accessToken, `, type ${tokenType}`)}</dd>
      <dt>Refresh token</dt>
      <dd>${refreshToken === undefined ? "none" : masked(refreshToken)}</dd>
      <dt>Valid for</dt>
      <dd>
        ${expiresAt === undefined ? "the vendor did not say" : `${expiresAt - receivedAt} seconds from when it was issued`}
      </dd>
      <dt>Scope</dt>
      <dd>
        ${scope === undefined || scope === "" ? "the vendor did not say" : scope.split(" ").map((name) => html`<code>${name}</code> `)}
      </dd>
      <dt>ID token</dt>
      <dd>
        ${user === undefined ? "none" : html`<code>iss</code> ${user.issuer}<br /><code>sub</code> ${user.subject}`}
      </dd>
      <dt>Vendor</dt>
      <dd>${offer.name} <code>${vendor}</code></dd>
      <dt>Vendor data</dt>
      <dd>${vendorData(tokens)}</dd>
      <dt>Connection</dt>
      <dd>${masked(connection, ", sealed: names the vendor and the credentials of the tokens")}</dd>
    </dl>
    <div class="row">
      ${isRevoked ? button(session, "/connect", "Connect again", about) : ""}
      ${refreshToken === undefined ? "" : button(session, "/refresh", "Refresh", { ...about, isQuiet: isRevoked })}
      ${button(session, "/revoke", "Revoke access token", { ...about, token: "access_token", isQuiet: true })}
      ${refreshToken === undefined ? "" : button(session, "/revoke", "Revoke refresh token", { ...about, token: "refresh_token", isQuiet: true })}
      ${button(session, "/start-over", "Start over", { isQuiet: true })}
    </div>
    <p class="soft last"><a href="#vendors">Connect another vendor</a></p>
  </section>`;
}

/** The broker takes tokens out of it, so it is shown as it came. */
function vendorData({ vendorData: data }: ReceivedTokens): Markup {
  const isEmpty = Object.keys(data).length === 0;
  return isEmpty ? html`nothing more` : html`<pre><code>${JSON.stringify(data, null, 2)}</code></pre>`;
}

/** Enough to see that another one arrived, not enough to use it. */
function masked(token: string, more = ""): Markup {
  return html`<code>${token.slice(0, 6)}…</code> <span class="soft">${token.length} characters${more}</span>`;
}

/** How it stands with the tokens of one vendor, in a word. */
export function stateTag({ isRevoked = false }: AtVendor): Markup {
  return isRevoked ? html`<span class="tag bad">revoked</span>` : html`<span class="tag good">connected</span>`;
}

export interface ButtonOptions {
  /** Id of the vendor it is about. */
  readonly vendor?: string;
  readonly token?: RevocableToken;
  readonly isQuiet?: boolean;
}

/** One button is one form: no scripts. */
export function button(
  session: Session,
  path: string,
  label: string,
  { vendor, token, isQuiet = false }: ButtonOptions = {},
): Markup {
  const hidden = Object.entries(defined({ vendor, token })).map(([name, value]) => hiddenInput(name, value));
  return html`<form method="post" action="${path}">${csrfInput(session, path)}${hidden}<button${isQuiet ? html` class="quiet"` : ""}>${label}</button></form>`;
}

/** @param path of the form's action */
export function csrfInput({ cookie }: Session, path: string): Markup {
  return hiddenInput("csrf", formToken(path, cookie));
}

function hiddenInput(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}
