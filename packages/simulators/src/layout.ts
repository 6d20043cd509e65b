/**
 * The page frame of the practice vendors: their sign-in and consent. Server-rendered, no scripts, one inline stylesheet that the
 * Content-Security-Policy allows by its hash.
 */
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import { STYLESHEET } from "./stylesheet.ts";

/** The result of hono/html's `html`: text that is already escaped. */
export type Markup = ReturnType<typeof html>;

/** Unformatted, because the hash covers every character between the tags. */
const STYLE_ELEMENT = raw(`<style>${STYLESHEET}</style>`);
const STYLE_HASH = createHash("sha256").update(STYLESHEET).digest("base64");

/**
 * `form-action` also applies to the redirects after a form, and that chain leads to other loopback
 * ports (platform, broker, vendor and back). Anything off this machine is refused.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self' http://127.0.0.1:* http://localhost:*",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every page: never stored, never framed, no scripts, no referrer. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** Under the brand: what this page is, and that it is not the real thing. */
const NOTE = "A practice vendor on this machine. Not the real company, no real account.";

/**
 * @param brand shown in the header, beside the mark
 * @returns the whole document as text; send it with `PAGE_HEADERS`
 */
export async function renderPage(brand: string, title: string, main: Markup): Promise<string> {
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <span class="mark" aria-hidden="true">${brand.split(" ").at(-1)?.slice(0, 1).toUpperCase()}</span>
          <div>
            <p class="brand">${brand}</p>
            <p class="note">${NOTE}</p>
          </div>
        </header>
        <main id="main">${main}</main>
      </body>
    </html>`;
  return document.toString();
}
