/** What the page shows of one vendor: the tokens that arrived, what can be done with them, and what each leg checked. */
import { html } from "hono/html";
import type { Markup } from "../layout.ts";
import type { BrokerTokens } from "./broker-client.ts";
import { button } from "./button.ts";
import type { ShownLeg } from "./legs.ts";
import type { VendorOffer } from "./offer.ts";
import type { AtVendor, Session } from "./sessions.ts";
import { stateTag } from "./state-tag.ts";

/** The vendor that the page is about. */
export interface ShownVendor extends AtVendor {
  readonly offer: VendorOffer;
  readonly legs: readonly ShownLeg[];
}

export function arrived(session: Session, { offer, isRevoked = false }: ShownVendor, tokens: BrokerTokens): Markup {
  const { accessToken, refreshToken, tokenType, expiresInSeconds, scope, idTokenClaims, vendor, connection } = tokens;
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
        ${expiresInSeconds === undefined ? "the vendor did not say" : `${expiresInSeconds} seconds from when it was issued`}
      </dd>
      <dt>Scope</dt>
      <dd>
        ${scope === undefined || scope === "" ? "the vendor did not say" : scope.split(" ").map((name) => html`<code>${name}</code> `)}
      </dd>
      <dt>ID token</dt>
      <dd>
        ${idTokenClaims === undefined ? "none" : html`<code>iss</code> ${idTokenClaims.iss ?? ""}<br /><code>sub</code> ${idTokenClaims.sub ?? ""}`}
      </dd>
      <dt>Vendor</dt>
      <dd>${offer.name} <code>${vendor}</code></dd>
      <dt>Vendor data</dt>
      <dd>${vendorData(tokens)}</dd>
      <dt>Connection</dt>
      <dd>${masked(connection, ", sealed: names what minted the tokens")}</dd>
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

export function checks({ legs, flow, offer }: ShownVendor): Markup {
  const flowId = flow?.flowId;
  return html`<section class="card" aria-labelledby="checks">
    <h2 id="checks">What was checked on each leg</h2>
    <table>
      <caption>
        ${offer.name}, ${flowId === undefined ? "the last flow" : html`flow <code>${flowId}</code>`}, in order. The
        broker's lines come from its record of the flow.
      </caption>
      <thead>
        <tr>
          <th scope="col">Leg</th>
          <th scope="col">Checks</th>
        </tr>
      </thead>
      <tbody>
        ${legs.map(legRow)}
      </tbody>
    </table>
  </section>`;
}

function legRow({ title, who, at, checks: passed, reason }: ShownLeg): Markup {
  const time = new Date(at * 1000).toISOString();
  return html`<tr>
    <th scope="row">
      <strong>${title}</strong
      ><span class="soft">${who}, <time datetime="${time}">${time.slice(11, 19)} UTC</time></span>
    </th>
    <td>
      ${reason === undefined ? "" : html`<code>${reason}</code>`}
      ${
        passed.length === 0
          ? ""
          : html`<ul>
              ${passed.map((check) => html`<li>${check}</li>`)}
            </ul>`
      }
    </td>
  </tr>`;
}

/** The broker takes tokens out of it, so it is shown as it came. */
function vendorData({ vendorData: data }: BrokerTokens): Markup {
  const isEmpty = Object.keys(data).length === 0;
  return isEmpty ? html`nothing more` : html`<pre><code>${JSON.stringify(data, null, 2)}</code></pre>`;
}

/** Enough to see that another one arrived, not enough to use it. */
function masked(token: string, more = ""): Markup {
  return html`<code>${token.slice(0, 6)}…</code> <span class="soft">${token.length} characters${more}</span>`;
}
