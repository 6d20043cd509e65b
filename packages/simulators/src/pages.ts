/**
 * The pages of every practice vendor: sign-in, consent, and errors. Markup only. Users have no
 * passwords: the user clicks a sample account.
 */
import { html } from "hono/html";
import type { Markup } from "./layout.ts";

export type AccountId = "user" | "operator";

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly description: string;
}

export const ACCOUNTS: readonly Account[] = [
  { id: "user", name: "Sample user", email: "user@sandbox.example", description: "Someone who connects a tool" },
  {
    id: "operator",
    name: "Sample operator",
    email: "operator@sandbox.example",
    description: "Someone who runs the workspace",
  },
];

/** One permission an app requests. */
export interface Permission {
  /** The vendor's own name of it. */
  readonly scope: string;
  /** The text a user reads. */
  readonly text: string;
}

export interface ConsentView {
  /** The question of the page. */
  readonly title: string;
  readonly user: Account | undefined;
  readonly permissions: readonly Permission[];
  /** Where its form goes, and what that holds beside the buttons. */
  readonly action: string;
  readonly fields: Markup;
}

const WHO_YOU_ARE: Permission = { scope: "", text: "See who you are" };

/** Sample accounts to choose from. @param fields of the form, beside them */
export function signInPage(title: string, text: Markup, action: string, fields: Markup): Markup {
  return html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    <form method="post" action="${action}">
      ${fields}
      ${ACCOUNTS.map(
        ({ id, name, email, description }) =>
          html`<button class="wide" name="account" value="${id}">
            Continue as ${name}<small>${email} · ${description}</small>
          </button>`,
      )}
      <div class="row"><button class="quiet" name="decision" value="cancel">Cancel</button></div>
    </form>
  </section>`;
}

export function consentPage({ title, user, permissions, action, fields }: ConsentView): Markup {
  const asked = permissions.length === 0 ? [WHO_YOU_ARE] : permissions;
  const line = ({ scope, text }: Permission) =>
    html`<li>${text || "Use a permission of this vendor"} <code class="soft">${scope}</code></li>`;
  return html`<section class="card">
    <h1>${title}</h1>
    <p>You are signed in as <strong>${user?.name}</strong> (${user?.email}). It asks to:</p>
    <ul class="plain">
      ${asked.map(line)}
    </ul>
    <form method="post" action="${action}">
      ${fields}
      <div class="row">
        <button name="decision" value="approve">Allow</button
        ><button class="quiet" name="decision" value="cancel">Cancel</button>
      </div>
    </form>
  </section>`;
}

/** @param code the vendor's own error code, when it shows one */
export function noticePage(title: string, text: string, code?: string): Markup {
  return html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    ${code === undefined ? "" : html`<p class="soft">Error code: <code>${code}</code></p>`}
  </section>`;
}

export function wayBack(homeUrl: string): Markup {
  return html`<p class="back"><a href="${homeUrl}">Back to where you started</a></p>`;
}
