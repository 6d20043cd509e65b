/** What every page of the platform has: the way round, who is signed in, and how forms show that they are ours. */
import { type BindingCookie, formToken } from "@oauth-broker/oauth-core";
import { escapeHtml, page } from "@oauth-broker/oauth-core/service";
import type { SignedIn } from "../users/session.ts";

export interface Tab {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

export interface Layout {
  readonly title: string;
  /** HTML whose values are escaped already. */
  readonly content: string;
  readonly session?: SignedIn;
  readonly tabs?: readonly Tab[];
}

export function platformPage({ title, content, session, tabs = [] }: Layout): string {
  return page(title, [navigation(tabs), content, session === undefined ? "" : footer(session)].join("\n"));
}

/** @param content fields and buttons, escaped already */
export function form(action: string, cookie: BindingCookie, content: string): string {
  return `<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="csrf" value="${formToken(action, cookie)}">
${content}</form>`;
}

/** @param text plain; said at once by screen readers */
export function alert(text: string, more = ""): string {
  return `<div class="notice" role="alert"><p>${escapeHtml(text)}</p>${more}</div>`;
}

function navigation(tabs: readonly Tab[]): string {
  if (tabs.length === 0) return "";
  const links = tabs.map(
    ({ href, label, isCurrent }) =>
      `<a href="${escapeHtml(href)}"${isCurrent ? ' aria-current="page"' : ""}>${escapeHtml(label)}</a>`,
  );
  return `<nav class="tabs" aria-label="Pages">${links.join("")}</nav>`;
}

function footer({ user, cookie }: SignedIn): string {
  return `<hr>
<p class="quiet">Signed in as ${escapeHtml(user.name)}. This is a reference platform: its users are samples and have no passwords.</p>
${form("/sign-out", cookie, '<button class="button plain" type="submit">Sign out</button>')}`;
}
