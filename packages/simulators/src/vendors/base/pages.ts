/**
 * The pages every simulated vendor shows: sign-in, consent, and errors. Markup only; consent.ts
 * serves it.
 */
import { html } from "hono/html";
import type { Markup } from "../../layout.ts";
import { type Account, accountForm } from "../../vendor-pages.ts";

/** One permission an app requests. */
export interface Permission {
  /** The vendor's own name of it. */
  readonly scope: string;
  /** The text a user reads. */
  readonly text: string;
}

export interface ConsentView {
  readonly brand: string;
  /** The app's name. */
  readonly app: string;
  readonly permissions: readonly Permission[];
  /** More questions that the vendor asks, as inputs of the same form. */
  readonly questions?: Markup | undefined;
}

const MISSING_TEXT = "Use a permission of this vendor";
const WHO_YOU_ARE: Permission = { scope: "", text: "See who you are" };

export function signInPage(brand: string, app: string, ask: string): Markup {
  return html`<section class="card">
    <h1>Sign in to ${brand}</h1>
    <p>To go on to <strong>${app}</strong>. Choose a sample account; there is no password.</p>
    ${accountForm("/simulator/sign-in", html`<input type="hidden" name="ask" value="${ask}" />`)}
  </section>`;
}

export function consentPage(view: ConsentView, user: Account, ask: string): Markup {
  const { app, brand, questions } = view;
  const permissions = view.permissions.length === 0 ? [WHO_YOU_ARE] : view.permissions;
  return html`<section class="card">
    <h1>Allow ${app} to use your ${brand} account?</h1>
    <p>You are signed in as <strong>${user.name}</strong> (${user.email}). It asks to:</p>
    <ul class="plain">
      ${permissions.map(({ scope, text }) => html`<li>${text || MISSING_TEXT} <code class="soft">${scope}</code></li>`)}
    </ul>
    <form method="post" action="/simulator/consent">
      <input type="hidden" name="ask" value="${ask}" />
      ${questions ?? ""}
      <div class="row">
        <button name="decision" value="approve">Allow</button
        ><button class="quiet" name="decision" value="cancel">Cancel</button>
      </div>
    </form>
  </section>`;
}

/** @param code the vendor's own error code, when it shows one */
export function problemPage(title: string, text: string, code?: string): Markup {
  return html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    ${code === undefined ? "" : html`<p class="soft">Error code: <code>${code}</code></p>`}
  </section>`;
}

export function welcomePage(brand: string): Markup {
  return html`<section class="card">
    <h1>A practice copy of ${brand}</h1>
    <p>It runs on this machine, so that connecting can be tried without an account. Start at the platform.</p>
  </section>`;
}

export function wayBack(homeUrl: string): Markup {
  return html`<p class="back"><a href="${homeUrl}">Back to where you started</a></p>`;
}
