/**
 * The common layout of our pages, at the broker and at scaffolded servers: no script, one inline
 * style sheet allowed by its hash, nothing loaded but the icon of the same server.
 */
import { createHash } from "node:crypto";
import { html as honoHtml, raw } from "hono/html";

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2330;--quiet:#5a6475;--paper:#fff;--ground:#f3f5f8;--line:#d9dee7;--accent:#1f5fbf;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf3;--quiet:#a3adbd;--paper:#1a2029;--ground:#11151b;--line:#303947;--accent:#8ab4f8;--bad:#f2b8b5}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{overflow-wrap:anywhere;max-width:42rem;margin:6vh auto;padding:2rem;background:var(--paper);border:1px solid var(--line);border-radius:12px}
@media(max-width:44rem){main{margin:0;min-height:100vh;border:0;border-radius:0;padding:1.25rem}}
h1{font-size:1.4rem;line-height:1.3;margin:0 0 .75rem}h2{font-size:1.05rem;margin:1.75rem 0 .5rem}
p{margin:.5rem 0}a{color:var(--accent)}code{font:.92em ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
.quiet{color:var(--quiet);font-size:.9rem}
.operator{display:flex;align-items:center;gap:.6rem;margin:0 0 1rem;font-weight:600}footer{margin-top:1.5rem;border-top:1px solid var(--line)}footer a{display:inline-block;margin-right:1.25rem;padding:.3rem 0}
.button{display:inline-block;margin:1rem 0;padding:.6rem 1.1rem;border-radius:8px;background:var(--accent);color:var(--paper);text-decoration:none;font-weight:600}
.button:focus-visible,a:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
button.button{border:1px solid var(--accent);font:inherit;font-weight:600;line-height:1.3;cursor:pointer;min-height:2.75rem}
.button.plain{background:none;color:var(--accent)}
form{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 1rem}form .button{margin:0}
.row{display:flex;flex-wrap:wrap;gap:.75rem}.row form{margin:0}@media(max-width:26rem){.row form{flex:1 1 100%}form .button{flex:1 1 100%}}
dl{margin:1.25rem 0;border-top:1px solid var(--line)}dl div{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.55rem 0;border-bottom:1px solid var(--line)}
dt{flex:0 0 9rem;color:var(--quiet)}dd{flex:1 1 14rem;margin:0;overflow-wrap:anywhere;font-weight:600}dd.plain{font-weight:400}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td code,.word{white-space:nowrap}caption{text-align:left}td ul{margin:0;padding-left:1.1rem}
.field{flex:1 1 100%}label{display:block;font-weight:600;margin-bottom:.25rem}label.choice{flex:1 1 100%;font-weight:400}
input[type=text],input[type=password],select{width:100%;min-height:2.75rem;padding:.5rem .6rem;font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--quiet);border-radius:8px}
input:focus-visible,select:focus-visible{outline:3px solid var(--ink);outline-offset:2px}input[aria-invalid],select[aria-invalid]{border:2px solid var(--bad)}
.problem{color:var(--bad);font-weight:600}.notice{margin:1rem 0;padding:.5rem 1rem;border:1px solid var(--line);border-left:4px solid var(--accent);border-radius:8px}.notice[role=alert]{border-left-color:var(--bad)}
.tabs{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin-bottom:1rem;border-bottom:1px solid var(--line)}.tabs a{padding:.6rem 0}.tabs+dl{margin-top:0;border-top:0}.tabs a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none;border-bottom:3px solid var(--accent)}
hr{margin:2rem 0 1rem;border:0;border-top:1px solid var(--line)}pre{margin:.5rem 0;padding:1rem;background:var(--ground);border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere}
details{margin:.5rem 0}summary{padding:.6rem 0;cursor:pointer}summary:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
`;

/** For `style-src` of the answer that carries a page. */
export const STYLE_HASH: string = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

const STYLE_ELEMENT = raw(`<style>${STYLE}</style>`);

/** HTML whose values are escaped. Only `html` creates it, so that no plain text is taken for it. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/**
 * What a template may contain, in element content and in quoted attributes. Text is escaped;
 * `undefined` renders nothing.
 */
export type MarkupValue = Markup | string | number | undefined | readonly MarkupValue[];

/** hono's `html` for values that are available at once: for a promise it would return one. */
export const html = honoHtml as unknown as (strings: TemplateStringsArray, ...values: readonly MarkupValue[]) => Markup;

/**
 * A line of a `<dl>`. @param shown isolated from the surrounding text, in either writing direction
 */
export function fact(term: string, shown: string | Markup): Markup {
  return html`<div><dt>${term}</dt><dd><bdi>${shown}</bdi></dd></div>`;
}

/** A field of a form that is posted again unchanged. */
export function hidden(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/**
 * A step before something that cannot be undone: the button is on the page, below what it does, and
 * shows once the reader opens it. Works without script, and costs no request.
 *
 * @param label of the choice, such as `Disconnect GitHub`
 * @param consequence what happens, before it happens
 * @param form with the button that does it
 */
export function askFirst(label: string, consequence: string, form: Markup): Markup {
  return html`<details><summary>${label}</summary>
<div class="notice"><p>${consequence}</p>
${form}</div></details>`;
}

/** A link on a page that leads back to the page the user came from. */
export interface BackLink {
  readonly href: string;
  readonly label: string;
}

/** The error page of a page that is not part of a sign-in. */
export interface RefusedPage {
  /** For a status that has no title for all pages. */
  readonly title: string;
  readonly back: BackLink;
}

/** What surrounds the content of a page: its language, and whose page it is. */
export interface PageFrame {
  /** BCP 47. */
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  /** Above the heading. */
  readonly header?: Markup | undefined;
  /** Below the content. */
  readonly footer?: Markup | undefined;
}

const PLAIN: PageFrame = { language: "en", direction: "ltr" };

/**
 * @param title plain text
 * @param frame default: English, and no one's in particular
 */
export function page(
  title: string,
  content: Markup,
  { language, direction, header, footer }: PageFrame = PLAIN,
): string {
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title>${STYLE_ELEMENT}</head>
<body><main>${header}<h1>${title}</h1>
${content}
${footer}</main></body>
</html>
`.toString();
}
