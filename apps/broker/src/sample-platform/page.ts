/** The one page: the present step, what arrived, what was checked, and what can be done next. */
import { html, type Markup } from "@oauth-broker/service/page";
import { type PlaceholderOffer, renderPage, type VendorOffer } from "@oauth-broker/simulators";
import { arrived, button, csrfInput, stateTag } from "./connection.ts";
import { inputName } from "./flows.ts";
import { checks, type ShownLeg } from "./legs.ts";
import type { AtVendor, Notice, Session } from "./sessions.ts";

/** The vendor that the page is about. */
export interface ShownVendor extends AtVendor {
  readonly offer: VendorOffer;
  readonly legs: readonly ShownLeg[];
}

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
    main: html`${steps(tokens !== undefined)}${notice === undefined ? "" : noticeBox(notice)}${shown === undefined || tokens === undefined ? invitation(list) : arrived(session, shown, tokens)}${shown === undefined || shown.legs.length === 0 ? "" : checks(shown.legs, shown.offer.name, shown.flow?.flowId)}${tokens === undefined ? "" : others(list)}`,
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
  // A cancel is the user's own choice, and what a vendor does not have is not a fault: no alarm.
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

/** @param shown the id of the vendor that the page is about already */
function vendorList(session: Session, offers: readonly VendorOffer[], shown: string | undefined): Markup {
  return html`<ul class="vendors">
    ${offers.map((offer) => vendorRow(session, offer, offer.id === shown))}
  </ul>`;
}

function vendorRow(session: Session, offer: VendorOffer, isShown: boolean): Markup {
  const { id, name, about, placeholders = [] } = offer;
  const known = session.vendors.get(id);
  const isConnected = known?.tokens !== undefined;
  const again = known?.flow === undefined ? "" : " again";
  return html`<li${placeholders.length === 0 ? "" : html` class="asks"`}>
    <div>
      <p class="name">
        ${name} ${isConnected ? stateTag(known) : ""}
      </p>
      <p class="soft">${about}</p>
    </div>
    <div class="row">
      <form method="post" action="/connect">
        ${csrfInput(session, "/connect")}<input type="hidden" name="vendor" value="${id}" />
        ${placeholders.map((placeholder) => field(id, placeholder))}
        <button${isConnected ? html` class="quiet"` : ""}>Connect ${name}${again}</button>
      </form>
      ${isConnected && !isShown ? button(session, "/show", `Show ${name}`, { vendor: id, isQuiet: true }) : ""}
    </div>
  </li>`;
}

function field(vendor: string, placeholder: PlaceholderOffer): Markup {
  const { label, value, choices } = placeholder;
  const name = inputName(placeholder);
  const id = `${vendor}-${placeholder.name}`;
  const control =
    choices === undefined
      ? html`<input id="${id}" name="${name}" value="${value}" autocomplete="off" spellcheck="false" />`
      : html`<select id="${id}" name="${name}">
          ${choices.map(
            (choice) =>
              html`<option value="${choice.value}" ${choice.value === value ? "selected" : ""}>
                ${choice.label}
              </option>`,
          )}
        </select>`;
  return html`<div>
    <label for="${id}">${label}</label>
    ${control}
  </div>`;
}
