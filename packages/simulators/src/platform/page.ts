/** The sample platform's one page: where one stands, what arrived, what was checked, and what can be done next. */
import { html } from "hono/html";
import { renderPage, type Markup } from "../layout.ts";
import { arrived, checks, type ShownVendor } from "./connection.ts";
import type { VendorOffer } from "./offer.ts";
import type { Notice, Session } from "./sessions.ts";
import { vendorList } from "./vendor-list.ts";

export interface HomeView {
  readonly session: Session;
  readonly offers: readonly VendorOffer[];
  /** The vendor of the last action; absent before the first. */
  readonly shown: ShownVendor | undefined;
}

const FRAME = {
  side: "platform",
  brand: "Sample platform",
  note: "Stands in for a product whose backend uses the broker. Everything runs on this machine.",
} as const;

export function renderHome({ session, offers, shown }: HomeView): Promise<string> {
  const { notice } = session;
  const tokens = shown?.tokens;
  const list = vendorList(session, offers, shown?.offer.id);
  return renderPage({
    ...FRAME,
    title: tokens === undefined ? "Connect a vendor" : `Connected: ${shown?.offer.name}`,
    main: html`${steps(tokens !== undefined)}${notice === undefined ? "" : noticeBox(notice)}${shown === undefined || tokens === undefined ? invitation(list) : arrived(session, shown, tokens)}${shown === undefined || shown.legs.length === 0 ? "" : checks(shown)}${tokens === undefined ? "" : others(list)}`,
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

function invitation(list: Markup): Markup {
  return html`<section class="card">
    <h1>Connect a vendor through the broker</h1>
    <p>
      Each of these is a practice copy that runs on this machine: choose a sample account, allow access, and come back
      here with its tokens. The broker does the talking and keeps nothing.
    </p>
    ${list}
  </section>`;
}

function others(list: Markup): Markup {
  return html`<section class="card" aria-labelledby="vendors">
    <h2 id="vendors">Vendors</h2>
    ${list}
  </section>`;
}

function noticeBox(notice: Notice): Markup {
  if (notice.kind === "done") return html`<div class="notice" role="status"><p>${notice.text}</p></div>`;
  const { code, description, advice, flowId, vendorError } = notice.problem;
  // A cancel is the user's own choice, and what a vendor does not have is nobody's fault: no alarm.
  const isCalm = code === "access_denied" || code === "unsupported_token_type";
  return html`<div class="notice ${isCalm ? "calm" : "problem"}" role="${isCalm ? "status" : "alert"}">
    <p><strong>${advice}</strong></p>
    <p>
      <code>${code}</code>:
      ${description}${vendorError === undefined ? "" : html` (the vendor's own code: <code>${vendorError}</code>)`}
    </p>
    ${flowId === undefined ? "" : html`<p class="soft">Flow <code>${flowId}</code></p>`}
  </div>`;
}
