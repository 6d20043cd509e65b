/** The sample platform's one page: where one stands, what arrived, what was checked, and what can be done next. */
import { html } from "hono/html";
import { renderPage, type Markup } from "../layout.ts";
import type { BrokerTokens } from "./broker-client.ts";
import type { ShownLeg } from "./legs.ts";
import type { Notice, Session } from "./sessions.ts";

export interface HomeView {
  readonly session: Session;
  readonly legs: readonly ShownLeg[];
  readonly vendor: string;
}

const FRAME = {
  side: "platform",
  brand: "Sample platform",
  note: "Stands in for a product whose backend uses the broker. Everything runs on this machine.",
} as const;

export function renderHome(view: HomeView): Promise<string> {
  const { tokens, notice } = view.session;
  return renderPage({
    ...FRAME,
    title: tokens === undefined ? "Connect a vendor" : "Connected",
    main: html`${steps(tokens !== undefined)}${notice === undefined ? "" : noticeBox(notice)}${tokens === undefined ? invitation(view) : arrived(view, tokens)}${view.legs.length === 0 ? "" : checks(view)}`,
  });
}

export function renderRefusal(title: string, text: string): Promise<string> {
  const main = html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    <p><a href="/">Back to the start</a></p>
  </section>`;
  return renderPage({ ...FRAME, title, main });
}

function steps(isConnected: boolean): Markup {
  const current = html` aria-current="step"`;
  return html`<ol class="steps" aria-label="Steps">
<li${isConnected ? html` class="done"` : current}>Connect</li>
<li${isConnected ? html` class="done"` : ""}>Sign in and allow at the vendor</li>
<li${isConnected ? current : ""}>See the tokens</li>
</ol>`;
}

function invitation({ session, vendor }: HomeView): Markup {
  return html`<section class="card">
    <h1>Connect a vendor through the broker</h1>
    <p>
      You will leave for <strong>${vendor}</strong>, a practice vendor: choose a sample account, allow access, and come
      back here with its tokens. The broker does the talking and keeps nothing.
    </p>
    <div class="row">${action(session, "/connect", session.notice === undefined ? "Connect" : "Connect again")}</div>
  </section>`;
}

function noticeBox(notice: Notice): Markup {
  if (notice.kind === "done") return html`<div class="notice" role="status"><p>${notice.text}</p></div>`;
  const { code, description, advice, flowId, vendorError } = notice.problem;
  // A cancel is the user's own choice, not an alarm.
  const isChoice = code === "access_denied";
  return html`<div class="notice ${isChoice ? "calm" : "problem"}" role="${isChoice ? "status" : "alert"}">
    <p><strong>${advice}</strong></p>
    <p>
      <code>${code}</code>:
      ${description}${vendorError === undefined ? "" : html` (the vendor's own code: <code>${vendorError}</code>)`}
    </p>
    ${flowId === undefined ? "" : html`<p class="soft">Flow <code>${flowId}</code></p>`}
  </div>`;
}

function arrived({ session }: HomeView, tokens: BrokerTokens): Markup {
  const { accessToken, refreshToken, tokenType, expiresInSeconds, scope, idTokenClaims, vendor, connection } = tokens;
  const isRevoked = session.isRevoked === true;
  return html`<section class="card" aria-labelledby="tokens">
    <h1 id="tokens">
      Your tokens arrived
      ${isRevoked ? html`<span class="tag bad">revoked</span>` : html`<span class="tag good">connected</span>`}
    </h1>
    <p class="soft">
      Real tokens of the vendor, masked here. They went from the vendor to this platform's backend, never through your
      browser.
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
      <dd>${(scope ?? "").split(" ").map((name) => html`<code>${name}</code> `)}</dd>
      <dt>ID token</dt>
      <dd>
        ${idTokenClaims === undefined ? "none" : html`<code>iss</code> ${idTokenClaims.iss ?? ""}<br /><code>sub</code> ${idTokenClaims.sub ?? ""}`}
      </dd>
      <dt>Vendor</dt>
      <dd>${vendor}</dd>
      <dt>Connection</dt>
      <dd>${masked(connection, ", sealed: names what minted the tokens")}</dd>
    </dl>
    <div class="row">
      ${isRevoked ? action(session, "/connect", "Connect again") : ""}
      ${refreshToken === undefined ? "" : action(session, "/refresh", "Refresh", isRevoked ? "quiet" : undefined)}
      ${action(session, "/revoke", "Revoke access token", "access_token")}
      ${refreshToken === undefined ? "" : action(session, "/revoke", "Revoke refresh token", "refresh_token")}
      ${action(session, "/start-over", "Start over", "quiet")}
    </div>
  </section>`;
}

function checks({ legs, session }: HomeView): Markup {
  const flowId = session.flow?.flowId;
  return html`<section class="card" aria-labelledby="checks">
    <h2 id="checks">What was checked on each leg</h2>
    <table>
      <caption>
        ${flowId === undefined ? "The last flow" : html`Flow <code>${flowId}</code>`}, in order. The broker's lines come
        from its record of the flow.
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

/** One button is one form: no scripts. `choice` is the token to revoke, or how the button looks. */
function action(
  session: Session,
  path: string,
  label: string,
  choice?: "access_token" | "refresh_token" | "quiet",
): Markup {
  const isToken = choice === "access_token" || choice === "refresh_token";
  const isQuiet = choice !== undefined;
  return html`<form method="post" action="${path}"><input type="hidden" name="csrf" value="${session.csrf}">${isToken ? html`<input type="hidden" name="token" value="${choice}" />` : ""}<button${isQuiet ? html` class="quiet"` : ""}>${label}</button></form>`;
}

/** Enough to see that another one arrived, not enough to use it. */
function masked(token: string, more = ""): Markup {
  return html`<code>${token.slice(0, 6)}…</code> <span class="soft">${token.length} characters${more}</span>`;
}
