import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accepts } from "../testing/accepts.ts";
import { expandTemplate, fillsRegistrableDomain, placeholderNames, requireKnownPlaceholders } from "./placeholders.ts";
import { anyText } from "../testing/any-text.ts";
import { words } from "../testing/corpora/words.ts";

const RUNS = { seed: 1, numRuns: 200 };
const REFUSED = expect.objectContaining({ code: "invalid_request", status: 400 });

describe("expandTemplate under attack", () => {
  const LABEL_TRICKS = [
    ...words(`evil.example evil.example/ evil.example# evil.example? evil.example:443 x@evil.example evil.example:x@ .
      .. a.b a/ /a a?b a#b a:b a@b a%2eb %61 -a a- - a_b A é * {x} } [::1] a,b a;b a+b xn--zzzzzz--`),
    "evil.example\\",
    "a\\b",
    "a b",
    " a",
    "a ",
    "a\t",
    "a\n",
    "a\r\n",
    "a\0",
    "\u3002",
    "\uff0e",
    "\u2024",
    "\uff41",
    "\u200b",
    "\u00ad",
    "a".repeat(64),
  ];

  it.each(LABEL_TRICKS)("never lets %j fill a label of the host", (value) => {
    expect(() => expandTemplate("https://{x}.vendor.example/a", { x: value }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://{x}.vendor.example/a", {}, { x: { default: value } })).toThrow(REFUSED);
    expect(() => expandTemplate("https://{x}.vendor.example/a", { x: value }, { x: { pattern: "[^]*" } })).toThrow(
      REFUSED,
    );
  });

  const SEGMENT_TRICKS = [
    ...words(`. .. a/b / a?b a#b %2e%2e %2f a% a:b a@b a;b a&b a=b a+b é {x} * a,b a! a'b " < [ a|b ^`),
    "\\",
    "a\\b",
    "a b",
    "a\n",
    "\0",
    "\u2215",
    "a".repeat(256),
  ];

  it.each(SEGMENT_TRICKS)("never lets %j fill a segment of the path", (value) => {
    expect(() => expandTemplate("https://vendor.example/{x}/authorize", { x: value }, {})).toThrow(REFUSED);
  });

  it.each(["\0", "a\nb", "\r", "\t", "\x7f", "\u0085", "\ud800", "a".repeat(1025)])(
    "never lets %j into the query",
    (value) => {
      expect(() => expandTemplate("https://vendor.example/a?x={x}", { x: value }, {})).toThrow(REFUSED);
    },
  );

  it.each([
    ["acme.example.com", true],
    ["a-b.example.com", true],
    ["localhost", true],
    ["127.0.0.1", false],
    ["0x7f.1", false],
    ["2130706433", false],
    ["a.0x7f", false],
    ["a.1", false],
    ["[::1]", false],
    ["a.example.com.", false],
    [".a.example.com", false],
    ["a..example.com", false],
    ["a.example.com:8443", false],
    ["a.example.com/", false],
    ["x@a.example.com", false],
    ["A.example.com", false],
    ["é.example.com", false],
    [`${"a.".repeat(126)}com`, false],
  ])("a whole host may be %s: %s", (host, fine) => {
    const expand = (): string => expandTemplate("https://{host}/authorize", { host }, { host: { kind: "host" } });
    if (fine) expect(expand()).toBe(`https://${host}/authorize`);
    else expect(expand).toThrow(REFUSED);
  });

  it.each([
    ...words(`{s}://vendor.example/a https://user:{x}@vendor.example/ https://{x}@vendor.example/
      https://vendor.example:{x}/ https:/{x} https:{x} {x} /{x} https://vendor.example/#{x} ftp://{x}.vendor.example/
      javascript:{x} https://é{x}.example/`),
    "https://\\{x}",
    "https://vendor.example\\{x}",
    "https://a b{x}.example/",
  ])("refuses the template %s, where a placeholder could move a boundary", (template) => {
    expect(() => expandTemplate(template, { x: "a", s: "https" }, {})).toThrow(REFUSED);
  });

  it.each([
    ...words(`https://v.example/{ https://v.example/} https://v.example/{} https://v.example/{{a}}
      https://v.example/{a.b} https://v.example/{1} https://v.example/{a}{`),
    "https://v.example/{a b}",
  ])("refuses the braces of %s", (template) => {
    expect(() => expandTemplate(template, { a: "x" }, {})).toThrow(REFUSED);
    expect(() => placeholderNames(template)).toThrow(REFUSED);
  });

  it("refuses pieces that are harmless alone and not together", () => {
    expect(() => expandTemplate("https://v.example/.{x}/a", { x: "." }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://v.example/%2{x}%2{x}/a", { x: "e" }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://{a}.{b}/", { a: "127", b: "1" }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://0x7f.{b}/", { b: "1" }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://{a}/", { a: "2130706433" }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://x{a}.v.example/", { a: "a".repeat(63) }, {})).toThrow(REFUSED);
    expect(() => expandTemplate("https://{a}.v.example/../x", { a: "a" }, {})).toThrow(REFUSED);
  });

  it("stays below the vendor's domain with any values, and throws only OAuthError", () => {
    const value = fc.oneof(anyText(fc), fc.string(), fc.constantFrom(...LABEL_TRICKS, ...SEGMENT_TRICKS, "a", "acme"));
    const template = "https://{a}.api.vendor.example:8443/v1/{b}/authorize?q={c}";
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        const expand = (): URL => new URL(expandTemplate(template, { a, b, c }, {}));
        if (!accepts(expand)) return;
        const url = expand();
        expect(url.hostname).toMatch(/^[a-z0-9-]+\.api\.vendor\.example$/);
        expect([url.protocol, url.port, url.username, url.password, url.hash]).toEqual(["https:", "8443", "", "", ""]);
        expect(url.pathname).toMatch(/^\/v1\/[^/]+\/authorize$/);
        expect(Array.from(url.searchParams)).toEqual([["q", c]]);
      }),
      RUNS,
    );
  });

  it("throws nothing but OAuthError for any template", () => {
    const token = fc.constantFrom(
      "https://",
      "http:",
      "//",
      "{a}",
      "{b}",
      "{",
      "}",
      "/",
      ".",
      "?",
      "#",
      "@",
      ":",
      "example",
      "com",
      "\\",
      "%2e",
      "[::1]",
    );
    const nearly = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(fc.oneof(anyText(fc), nearly), (template) => {
        for (const action of [
          () => expandTemplate(template, { a: "x", b: "y" }, {}),
          () => fillsRegistrableDomain(template),
        ]) {
          expect(accepts(action)).toBeTypeOf("boolean");
        }
      }),
      RUNS,
    );
  });
});

describe("a template that repeats a placeholder", () => {
  const LONG = "€".repeat(1000); // 9,000 characters in a query
  /** Counts how often a value was put in. */
  const counted = () => {
    const count = { fills: 0 };
    const spec = {
      get values() {
        count.fills += 1;
        return undefined as unknown as string[];
      },
    };
    return { count, specs: { a: spec } };
  };

  it.each([
    ["in the query", "https://a.example/?", LONG, 1],
    ["in the path", "https://a.example/", "a".repeat(255), 8],
  ])("is refused before more than a URL's worth was built: %s", (_, start, a, most) => {
    const { count, specs } = counted();
    expect(() => expandTemplate(start + "{a}".repeat(600), { a }, specs)).toThrow(REFUSED);
    // `values` is read up to three times for one value.
    expect(count.fills).toBeLessThanOrEqual(3 * most);
    expect(count.fills).toBeGreaterThan(0);
  });

  it("is not read if longer than a URL, nor is an address without placeholders", () => {
    const { count, specs } = counted();
    const template = `https://a.example/?${"{a}".repeat(18_000)}`;
    for (const read of [
      () => expandTemplate(template, { a: LONG }, specs),
      () => expandTemplate(`https://a.example/${"a".repeat(2048)}`, {}, specs),
      () => placeholderNames(template, specs),
      () => requireKnownPlaceholders({ a: LONG }, [template], specs),
      () => fillsRegistrableDomain(template, specs),
    ]) {
      expect(read).toThrow(REFUSED);
    }
    expect(count.fills).toBe(0);
  });

  it("may give a URL of 2,048 characters and no longer one", () => {
    const start = "https://a.example/?a=";
    const fits = "x".repeat(1024);
    const template = `${start}{a}&b=${"y".repeat(2048 - start.length - 1024 - 3)}`;
    expect(expandTemplate(template, { a: fits }, {})).toHaveLength(2048);
    expect(() => expandTemplate(`${template}y`, { a: fits }, {})).toThrow(REFUSED);
  });
});
