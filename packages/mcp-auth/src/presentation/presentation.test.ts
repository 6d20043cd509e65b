/** Whose the pages are, in which language, and what they load. */
import { afterEach, describe, expect, it } from "vitest";
import type { OperatorSettings } from "../settings.ts";
import { form } from "../testing/hosted-fixture.ts";
import { openStubLinkingFixture } from "../testing/linking/stub-linking.ts";
import { ASK, openStubServerFixture, type StubServerFixture } from "../testing/server-fixture.ts";
import { createPresentation, type ScopeMeanings } from "./presentation.ts";
import { ENGLISH } from "./texts/english.ts";
import { GERMAN } from "./texts/german.ts";
import { html, type Markup } from "@oauth-broker/service/page";

const URI = "https://app.example/back";
const ICON = { contentType: "image/png", bytes: new Uint8Array([0x89, 0x50]) };
let fixture: StubServerFixture | undefined;
afterEach(() => fixture?.close());

async function consentOf(operator: OperatorSettings, scopeMeanings?: ScopeMeanings, uri = URI): Promise<Response> {
  fixture = await openStubServerFixture({
    callback: { registration: { hosts: [] } },
    settings: { operator },
    ...(scopeMeanings === undefined ? {} : { scopeMeanings }),
  });
  const { body } = await fixture.register({ redirect_uris: [uri] });
  const asked = { ...ASK, client_id: String(body["client_id"]), redirect_uri: uri };
  return fixture.request(`/authorize?${form(asked).toString()}`);
}

describe("the consent page", () => {
  it("bar#AS-10 shows the operator's name as text", async () => {
    const page = await (await consentOf({ language: "en", name: '<img src=x onerror=alert(1)>"&' })).text();
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&amp;");
    expect(page).not.toContain("<img");
  });

  it("shows the server's title where there is no name, and loads nothing", async () => {
    const shown = await consentOf({ language: "en" });
    expect(await shown.text()).toContain('<p class="operator"><bdi>Test server</bdi></p>');
    expect(shown.headers.get("content-security-policy")).not.toContain("img-src");
  });

  it("bar#AS-10 shows an author's title without characters that reorder letters", () => {
    const { frame } = createPresentation({ language: "en" }, { name: "mail", title: "Mail \u202Egnp.exe\nfor all" });
    expect(String(frame.header)).toContain("<bdi>Mail gnp.exe for all</bdi>");
  });

  it.each(["", "\u200b\u2060\u202e", " \u00ad "])("bar#AS-10 shows the server's name for the title %j", (title) => {
    const { frame } = createPresentation({ language: "en" }, { name: "mail", title });
    expect(String(frame.header)).toContain("<bdi>mail</bdi>");
  });

  it("bar#HT-10 links without a referrer, and loads the icon from this server alone", async () => {
    const links = {
      website: "https://acme.example/",
      privacy: "https://acme.example/p?a=1&b",
      terms: "https://a.example/t",
    };
    const shown = await consentOf({ language: "en", name: "Acme", icon: ICON, ...links });
    const page = await shown.text();
    expect(page).toContain('<a href="https://acme.example/p?a=1&amp;b" rel="noreferrer">Privacy</a>');
    expect(page.match(/<a [^>]*>/g)?.every((link) => link.includes('rel="noreferrer"'))).toBe(true);
    expect(page).toContain('<img src="/favicon.ico" alt=""');
    expect(shown.headers.get("content-security-policy")).toMatch(/^default-src 'none';.*; img-src 'self'$/);
  });

  it("is German from the first tag to the last button", async () => {
    const page = await (await consentOf({ language: "de" })).text();
    expect(page).toContain('<html lang="de" dir="ltr">');
    for (const text of ["Eine Anwendung ohne Namen", "Führt zurück zu", "Weiter zu", "Abbrechen", "nicht geprüft"])
      expect(page).toContain(text);
    expect(page.replace(/<style>.*<\/style>/s, "").replaceAll(/<[^>]*>/g, " ")).not.toMatch(
      /\b(?:the|your|application|Continue|Permissions|again)\b/,
    );
  });

  it("says what a scope means beside the scope, if a tool says it", async () => {
    const meanings = new Map([["stub", new Map([["read", { sentence: "Read <all> your notes" }]])]]);
    const page = await (await consentOf({ language: "en" }, meanings)).text();
    expect(page).toContain("Read &lt;all&gt; your notes <code>read</code>");
  });

  it("bar#AS-10 shows no character of a sentence that hides or turns others, and no endless one", () => {
    const sentence = `Read\u202e ${"all ".repeat(60)}`;
    const meanings = new Map([["stub", new Map([["read", { sentence }]])]]);
    const shown = String(
      createPresentation({ language: "en" }, { name: "Test server" }, meanings).scopes("stub", ["read"]),
    );
    expect(shown).toMatch(/^Read all [al ]+… <code>read<\/code>$/);
    expect(shown.length).toBeLessThan(200);
  });

  it("marks an entry's sentence as English on a page in another language, and leaves unknown scopes as they are", () => {
    const meanings = new Map([["stub", new Map([["read", { sentence: "Read your notes", language: "en" }]])]]);
    const scopes = ["read", "odd"];
    const shownIn = (language: "en" | "de") =>
      String(createPresentation({ language }, { name: "Test server" }, meanings).scopes("stub", scopes));
    expect(shownIn("en")).toBe("Read your notes <code>read</code><br><code>odd</code>");
    expect(shownIn("de")).toBe('<span lang="en">Read your notes</span> <code>read</code><br><code>odd</code>');
  });

  it("bar#AS-7 warns once of a program on this computer that chose its name", async () => {
    const page = await (await consentOf({ language: "en" }, undefined, "http://127.0.0.1:8123/cb")).text();
    expect(page).toContain("program on this computer. It chose this name itself");
    expect(page.match(/<p><strong>/g)).toHaveLength(1);
    expect(page.match(/Continue only if/g)).toHaveLength(1);
  });

  it.each(["en", "de"] as const)(
    "bar#AS-7 says once when to continue, in %s, wherever the answer goes",
    async (language) => {
      for (const uri of [URI, "http://127.0.0.1:8123/cb"]) {
        const page = await (await consentOf({ language }, undefined, uri)).text();
        expect(page.match(/Continue only if|Fahren Sie nur fort/g), uri).toHaveLength(1);
        await fixture?.close();
      }
    },
  );
});

it("an error page is in the language too, and marks what clients are answered as English", async () => {
  await consentOf({ language: "de", name: "Acme" });
  const page = await (await fixture?.request("/authorize?client_id=none"))?.text();
  expect(page).toContain('<html lang="de" dir="ltr">');
  expect(page).toMatch(/<p class="quiet" lang="en">/);
  expect(page).toContain("<bdi>Acme</bdi>");
  expect(page).toContain("Fehler <code>");
});

it("a refused request to the pages of links is too, with the way back", async () => {
  await using several = await openStubLinkingFixture({ settings: { operator: { language: "de" } } });
  const headers = { "sec-fetch-site": "cross-site" };
  const page = await (await several.request("/connections", { method: "POST", headers })).text();
  expect(page).toContain("<h1>Das war nicht möglich</h1>");
  expect(page).toContain('href="/connections">Ihre Verbindungen</a>');
});

it("bar#HT-10 the icon is answered as its own type, and a browser runs nothing in it", async () => {
  const { iconRoute } = createPresentation({ language: "en", icon: ICON }, { name: "Test server" });
  const answer = await iconRoute.handle({} as never, {});
  expect(answer).toMatchObject({ status: 200, body: ICON.bytes });
  expect(answer.headers).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  });
});

/** Every text of a table, by its path; functions with names that stand out. */
function textsOf(of: unknown, path = ""): [path: string, text: string][] {
  if (typeof of === "string") return [[path, of]];
  if (typeof of === "function")
    return textsOf((of as (...names: unknown[]) => unknown)(...argumentsOf(path, of.length)), path);
  if (typeof of !== "object" || of === null) return [];
  if ("isEscaped" in of) return [[path, (of as Markup).toString()]];
  return Object.entries(of).flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`));
}

function argumentsOf(path: string, count: number): unknown[] {
  if (path.endsWith(".whatItIs")) return [html`<code>X</code>`];
  if (path.startsWith(".consent.title") || path.startsWith(".consent.asks")) return ["A", ["B", "C", "D"], "H"];
  return Array.from({ length: Math.max(count, 1) }, (_, at) => `X${at}`);
}

describe("German", () => {
  const english = new Map(textsOf(ENGLISH));
  const german = new Map(textsOf(GERMAN));

  it("says all that English says", () => {
    expect([...german.keys()].toSorted()).toEqual([...english.keys()].toSorted());
    expect([...german.values()].filter((text) => text === "")).toEqual([]);
  });

  it("says it in other words", () => {
    const alike = [...german].filter(([path, text]) => english.get(path) === text).map(([path]) => path);
    expect(alike.toSorted()).toEqual([".direction", ".footer.website"]);
  });
});
