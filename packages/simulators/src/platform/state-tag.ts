/** How it stands with the tokens of one vendor, in a word. */
import { html } from "hono/html";
import type { Markup } from "../layout.ts";
import type { AtVendor } from "./sessions.ts";

export function stateTag({ isRevoked = false }: AtVendor): Markup {
  return isRevoked ? html`<span class="tag bad">revoked</span>` : html`<span class="tag good">connected</span>`;
}
