/** The vendors on the sample platform's page: one row and one form each. */
import { html } from "hono/html";
import type { Markup } from "../layout.ts";
import { button } from "./button.ts";
import { inputName, type PlaceholderOffer, type VendorOffer } from "./offer.ts";
import type { Session } from "./sessions.ts";
import { stateTag } from "./state-tag.ts";

/** @param shown the id of the vendor that the page is about already */
export function vendorList(session: Session, offers: readonly VendorOffer[], shown: string | undefined): Markup {
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
        <input type="hidden" name="csrf" value="${session.csrf}" /><input type="hidden" name="vendor" value="${id}" />
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
