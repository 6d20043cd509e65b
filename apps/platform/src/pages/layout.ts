/** The layout of every page: navigation, the signed-in user, and the tokens that protect forms. */
import { type BindingCookie, formToken } from "@oauth-broker/oauth-core/authorization-server";
import { html, type Markup, page } from "@oauth-broker/service/page";
import type { SignedIn } from "../users/session.ts";

export interface Tab {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

export interface Layout {
  readonly title: string;
  readonly content: Markup;
  readonly session?: SignedIn;
  readonly tabs?: readonly Tab[];
}

export function platformPage({ title, content, session, tabs = [] }: Layout): string {
  return page(
    title,
    html`${navigation(tabs)}
${content}
${session === undefined ? undefined : footer(session)}`,
  );
}

/** @param content fields and buttons */
export function form(action: string, cookie: BindingCookie, content: Markup | readonly Markup[]): Markup {
  return html`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${formToken(action, cookie)}">
${content}</form>`;
}

/** @param text announced at once by screen readers */
export function alert(text: string, more?: Markup): Markup {
  return html`<div class="notice" role="alert"><p>${text}</p>${more}</div>`;
}

/** @param text what was done, read out when the reader is free */
export function statusNotice(text: string): Markup {
  return html`<div class="notice" role="status"><p>${text}</p></div>`;
}

function navigation(tabs: readonly Tab[]): Markup | undefined {
  if (tabs.length === 0) return undefined;
  const links = tabs.map(
    ({ href, label, isCurrent }) =>
      html`<a href="${href}"${isCurrent ? html` aria-current="page"` : undefined}>${label}</a>`,
  );
  return html`<nav class="tabs" aria-label="Pages">${links}</nav>`;
}

function footer({ user, cookie }: SignedIn): Markup {
  return html`<hr>
<p class="quiet">Signed in as ${user.name}. This is a reference platform: its users are samples and have no passwords.</p>
${form("/sign-out", cookie, html`<button class="button plain" type="submit">Sign out</button>`)}`;
}
