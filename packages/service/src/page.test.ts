import { expect, it } from "vitest";
import { html, page } from "./page.ts";

const HOSTILE = `<script>alert("1")</script>' onload='x&amp;`;
const ESCAPED = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload=&#39;x&amp;amp;";

it("escapes text in element content and in attributes, title and lists included", () => {
  const shown = page(HOSTILE, html`<a href="${HOSTILE}">${[HOSTILE, html`<b>${HOSTILE}</b>`]}</a>`);
  expect(shown).toContain(`<title>${ESCAPED}</title>`);
  expect(shown).toContain(`<h1>${ESCAPED}</h1>\n<a href="${ESCAPED}">${ESCAPED}<b>${ESCAPED}</b></a>\n</main>`);
  expect(shown).not.toContain("<script");
});

it("leaves out what is undefined, and takes markup as it is", () => {
  expect(html`<p>${undefined}${0}${html`<br>`}</p>`.toString()).toBe("<p>0<br></p>");
});
