/**
 * One page frame for everything the sandbox shows to a browser: the vendor's sign-in and consent, and the sample platform.
 * Server-rendered, no scripts, one inline stylesheet that the Content-Security-Policy allows by its hash.
 */
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

/** What `html` of hono/html answers: text that is already escaped. */
export type Markup = ReturnType<typeof html>;

export interface Page {
  readonly title: string;
  /** Vendor and platform look different, so that a newcomer sees whose page it is. */
  readonly side: "vendor" | "platform";
  /** Shown in the header, beside the mark. */
  readonly brand: string;
  /** One line under the brand: what this page is, and that it is not the real thing. */
  readonly note: string;
  readonly main: Markup;
}

const STYLE = `
:root{color-scheme:light dark;--ink:#17202a;--soft:#4d5b69;--line:#cfd7df;--paper:#fff;--ground:#f2f5f8;--good:#0b6b3a;--goodbg:#e4f5ea;--bad:#a32015;--badbg:#fdebe8}
.vendor{--accent:#6b2fa8;--onaccent:#fff;--tint:#f4ecfb}.platform{--accent:#0b5cad;--onaccent:#fff;--tint:#e8f1fb}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--soft:#a9b6c3;--line:#3a4653;--paper:#1b232c;--ground:#10161c;--good:#7fdba6;--goodbg:#123222;--bad:#ffaaa0;--badbg:#42201c}
.vendor{--accent:#c9a2f2;--onaccent:#22103a;--tint:#2c2140}.platform{--accent:#8cc2ff;--onaccent:#06203d;--tint:#17293d}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem 1rem;z-index:1}
header,main,footer{max-width:58rem;margin:0 auto;padding:0 1rem}.vendor header,.vendor main,.vendor footer{max-width:30rem}
header{display:flex;gap:.75rem;align-items:center;padding-top:1.5rem}.mark{flex:none;width:2.5rem;height:2.5rem;border-radius:.7rem;background:var(--accent);color:var(--onaccent);display:grid;place-items:center;font-weight:700;font-size:1.2rem}
.brand{margin:0;font-weight:700;line-height:1.2}.note{margin:.1rem 0 0;color:var(--soft);font-size:.9rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.15rem;margin:0 0 .5rem}h3{font-size:1rem;margin:1rem 0 .25rem}p{margin:.25rem 0 .75rem}
.card{background:var(--paper);border:1px solid var(--line);border-radius:1rem;padding:1.5rem;margin:1.25rem 0;box-shadow:0 1px 3px #0000001a}
button,.button{font:inherit;font-weight:600;min-height:2.75rem;padding:.55rem 1.1rem;border-radius:.6rem;border:1px solid var(--accent);background:var(--accent);color:var(--onaccent);cursor:pointer;text-decoration:none;display:inline-block}
button:hover{filter:brightness(1.08)}button.quiet{background:transparent;color:var(--ink);border-color:var(--soft)}button.wide{width:100%;text-align:left;display:block;margin:.6rem 0}button.wide small{display:block;font-weight:400}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}a{color:var(--accent)}
.row{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1rem}.row form{margin:0}
ul.plain{list-style:none;margin:.5rem 0 1rem;padding:0}ul.plain li{padding:.6rem 0;border-top:1px solid var(--line)}ul.plain li:first-child{border-top:0}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace;overflow-wrap:anywhere}.soft{color:var(--soft)}
footer{color:var(--soft);font-size:.85rem;padding-bottom:2rem}
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * `form-action` also judges where a form's answer redirects to, and that chain leaves for other loopback ports
 * (platform, broker, vendor and back). Anything off this machine is refused.
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

/** @returns the whole document as text; send it with `PAGE_HEADERS` */
export async function renderPage(page: Page): Promise<string> {
  const document = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<style>${raw(STYLE)}</style>
</head>
<body class="${page.side}">
<a class="skip" href="#main">Skip to the content</a>
<header><span class="mark" aria-hidden="true">${page.brand.slice(0, 1)}</span><div><p class="brand">${page.brand}</p><p class="note">${page.note}</p></div></header>
<main id="main">${page.main}</main>
</body>
</html>`;
  return document.toString();
}
