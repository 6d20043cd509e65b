/**
 * How this server's pages look: in which language, under whose name, with whose links and icon, and
 * what scopes mean in a sentence. Made once from the settings and the definition.
 */
import { type Answer, formPageAnswer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { faviconRoute, type Route } from "@oauth-broker/service/http";
import { html, type Markup, page, type PageFrame, STYLE_HASH } from "@oauth-broker/service/page";
import type { ServerDefinition } from "../server.ts";
import type { Language, OperatorSettings } from "../settings.ts";
import { shownText } from "./shown-text.ts";
import { ENGLISH, type PageTexts } from "./texts/english.ts";
import { GERMAN } from "./texts/german.ts";

/** What a scope means, in a sentence. */
export interface ScopeMeaning {
  readonly sentence: string;
  /** BCP 47, if it is known: vendors' entries are in English. */
  readonly language?: string;
}

/** By the vendor's id and the scope. */
export type ScopeMeanings = ReadonlyMap<string, ReadonlyMap<string, ScopeMeaning>>;

export interface Presentation {
  readonly texts: PageTexts;
  readonly frame: PageFrame;
  /** A page without a form that leads elsewhere. */
  page(status: number, title: string, content: Markup): Answer;
  /** As `formPageAnswer`. */
  formPage(title: string, content: Markup, headers: Record<string, string>): Answer;
  /** @param answer a page made with `frame`: its icon may be loaded */
  allowIcon(answer: Answer): Answer;
  /** Each scope, and beside it what it means if that is known. */
  scopes(vendor: string, scopes: readonly string[]): string | Markup;
  /** `/favicon.ico`. */
  readonly iconRoute: Route;
}

const TEXTS: Readonly<Record<Language, PageTexts>> = { en: ENGLISH, de: GERMAN };

/** @param server without the name of an operator its title is shown, or its name if no title can be seen */
export function createPresentation(
  { name, icon, language, ...links }: OperatorSettings,
  server: Pick<ServerDefinition, "name" | "title">,
  meanings: ScopeMeanings = new Map(),
): Presentation {
  const texts = TEXTS[language];
  const frame: PageFrame = {
    language,
    direction: texts.direction,
    header: headerOf(name ?? (shownText(server.title ?? "") || shownText(server.name)), icon !== undefined),
    footer: footerOf(links, texts),
  };
  const allowIcon = (answer: Answer): Answer => (icon === undefined ? answer : withIcon(answer));
  return {
    texts,
    frame,
    allowIcon,
    page: (status, heading, content) => allowIcon(pageAnswer(status, page(heading, content, frame), STYLE_HASH)),
    formPage: (heading, content, headers) =>
      allowIcon(formPageAnswer(page(heading, content, frame), STYLE_HASH, headers)),
    scopes: (vendor, scopes) => describeScopes(scopes, meanings.get(vendor), language),
    iconRoute: icon === undefined ? faviconRoute : iconRoute(icon),
  };
}

function headerOf(name: string, hasIcon: boolean): Markup {
  const image = hasIcon ? html`<img src="${faviconRoute.path}" alt="" width="32" height="32">` : undefined;
  return html`<p class="operator">${image}<bdi>${name}</bdi></p>
`;
}

function footerOf(
  links: Pick<OperatorSettings, "website" | "privacy" | "terms">,
  texts: PageTexts,
): Markup | undefined {
  const shown = (["website", "privacy", "terms"] as const).flatMap((of) => {
    const url = links[of];
    return url === undefined ? [] : [html`<a href="${url}" rel="noreferrer">${texts.footer[of]}</a>`];
  });
  return shown.length === 0
    ? undefined
    : html`<footer class="quiet">${shown}</footer>
`;
}

/** The one thing that our pages may load, from this server. */
function withIcon(answer: Answer): Answer {
  const policy = answer.headers["content-security-policy"] ?? "";
  return { ...answer, headers: { ...answer.headers, "content-security-policy": `${policy}; img-src 'self'` } };
}

/** If a browser took it for a page, it would run nothing in it. */
//= bar#HT-10
function iconRoute({ contentType, bytes }: NonNullable<OperatorSettings["icon"]>): Route {
  const headers = {
    "content-type": contentType,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "no-store",
  };
  return { ...faviconRoute, handle: () => ({ status: 200, headers, body: bytes }) };
}

/** The longest sentence beside a scope, in code points. */
const LONGEST_MEANING = 160;

//= bar#AS-10
function describeScopes(
  scopes: readonly string[],
  meanings: ReadonlyMap<string, ScopeMeaning> | undefined,
  language: Language,
): string | Markup {
  if (meanings === undefined || !scopes.some((scope) => meanings.has(scope))) return scopes.join(" ");
  return html`${scopes.map((scope, at) => {
    const line = at === 0 ? undefined : html`<br>`;
    return html`${line}${sentenceOf(meanings.get(scope), language)}<code>${scope}</code>`;
  })}`;
}

function sentenceOf(meaning: ScopeMeaning | undefined, language: Language): Markup | undefined {
  const sentence = shownText(meaning?.sentence ?? "", LONGEST_MEANING);
  if (meaning === undefined || sentence === "") return undefined;
  const isForeign = meaning.language !== undefined && meaning.language !== language;
  return isForeign ? html`<span lang="${meaning.language}">${sentence}</span> ` : html`${sentence} `;
}
