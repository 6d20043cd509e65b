/** One button is one form: no scripts. */
import { html } from "hono/html";
import type { Markup } from "../layout.ts";
import type { RevocableToken } from "./broker-client.ts";
import type { Session } from "./sessions.ts";

export interface ButtonOptions {
  /** Id of the vendor it is about. */
  readonly vendor?: string;
  readonly token?: RevocableToken;
  readonly isQuiet?: boolean;
}

export function button(
  { csrf }: Session,
  path: string,
  label: string,
  { vendor, token, isQuiet = false }: ButtonOptions = {},
): Markup {
  const hidden = Object.entries({ csrf, vendor, token }).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );
  return html`<form method="post" action="${path}">${hidden}<button${isQuiet ? html` class="quiet"` : ""}>${label}</button></form>`;
}
