/** The text of the page, whatever clients call themselves. */
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { shownText } from "../../presentation/shown-text.ts";
import { openStubServerFixture } from "../../testing/server-fixture.ts";

const URI = "https://app.example/back";
const fixture = shared(() => openStubServerFixture({ callback: { registration: { hosts: [] } } }));

async function pageOf(metadata: object, redirectUri = URI): Promise<string> {
  const { body } = await fixture.register({ redirect_uris: [redirectUri], ...metadata });
  return (await fixture.browser().ask({ client_id: String(body["client_id"]), redirect_uri: redirectUri })).html;
}

describe("bar#AS-10 a client's name is text", () => {
  it.each([
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><style>*{display:none}</style>",
    "'; --",
    "&lt;b&gt;",
  ])("%s", async (name) => {
    const html = await pageOf({ client_name: name });
    expect(html).not.toContain(name);
    expect(html.match(/<(script|img|b|a|link|iframe|object|svg)\b/g)).toBeNull();
    expect(html.match(/<style/g)).toHaveLength(1);
  });

  it("of ten kilobytes it is refused or cut, and the buttons stay where they are", async () => {
    expect((await fixture.register({ redirect_uris: [URI], client_name: "x".repeat(10_000) })).status).toBe(413);
    const html = await pageOf({ client_name: "x".repeat(6_000) });
    expect(html).toContain(`${"x".repeat(80)}…`);
    expect(html).not.toContain("x".repeat(81));
  });

  it("without one the page says so", async () => {
    expect(await pageOf({})).toContain("An application without a name");
  });

  it("nothing of it is loaded, and no address of its own is a link", async () => {
    const html = await pageOf({
      client_name: "App",
      logo_uri: "https://tracker.example/logo.png",
      // oxlint-disable-next-line no-script-url
      client_uri: "javascript:alert(1)",
      policy_uri: "https://tracker.example/policy",
    });
    expect(html).not.toMatch(/tracker|javascript:|<a |src=|url\(/);
  });
});

describe("bar#AS-10 shown text", () => {
  it.each([
    ["an override of direction", "Good\u202egpj.exe", "Good gpj.exe"],
    ["isolates and marks of direction", "\u2066a\u2067b\u200fc", "a b c"],
    ["line breaks and tabs", "a\r\nb\tc\u2028d\u0085e", "a b c d e"],
    ["letters without width", "Goo\u200bgle\u00ad\ufeff", "Goo gle"],
    ["tags", "a\u{e0041}b", "a b"],
    ["lone halves", "a\ud800b", "a\ufffdb"],
    ["marks without end", `a${"\u0301".repeat(50)}b`, "a\u0301\u0301b"],
    ["nothing but fillers", "\u3164\u2800\u115f\uffa0", ""],
    ["only white space", " \u3000\n", ""],
  ])("removes %s", (_what, text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  it("of another direction stays apart from the sentence around it", () => {
    expect(shownText("שלום")).toBe("\u2068שלום\u2069");
    expect(shownText("Łódź 東京")).toBe("Łódź 東京");
  });

  it("is cut between letters", () => {
    expect(shownText("😀".repeat(100))).toBe(`${"😀".repeat(80)}…`);
  });
});

describe("bar#AS-7 what the user decides by", () => {
  it("the host of the way back, with all of it, and a warning where it is this computer", async () => {
    const web = await pageOf({ client_name: "Trusted Bank" }, "https://evil.example/oauth/callback");
    expect(web).toContain("evil.example<br>");
    expect(web).toContain("https://evil.example/oauth/callback");
    expect(web).toContain("its own registration, which is unverified");
    expect(web).not.toContain("program on this computer");
    for (const uri of ["http://127.0.0.1:8123/cb", "http://[::1]/cb", "http://localhost:1/cb"])
      expect(await pageOf({}, uri)).toContain("program on this computer");
  });
});
