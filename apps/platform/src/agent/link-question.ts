/**
 * What a server asks before it runs a tool: that the user opens a URL, for instance to link an
 * account at a vendor. A server is not trusted with the user's browser, so its URL is checked here.
 * Nothing of the platform fetches it; the user opens it from pages/try.ts, or does not.
 */
import type { InputRequiredResult } from "@modelcontextprotocol/client";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { refusal } from "../refusal.ts";

/** A URL that the page offers, or the reason why it does not, as the end of `The address …`. */
export type OfferedUrl =
  | {
      readonly href: string;
      readonly host: string;
      /** The host has Punycode: it may look like another one. */
      readonly isMarked: boolean;
    }
  | { readonly refused: string };

export interface LinkQuestion {
  /** The server's name for the question, under which it expects the answer. */
  readonly key: string;
  /** What it is about, as plain text: with our servers the id of a vendor. Empty when not named. */
  readonly about: string;
  /** For the user, as plain text. */
  readonly message: string;
  readonly url: OfferedUrl;
}

/** What the user answers to every question of one call. */
export type LinkAnswer = "accept" | "decline" | "cancel";

/** The questions of a server instead of the result of a call. */
export interface Asked {
  readonly questions: readonly LinkQuestion[];
  /** Opaque; the server expects it with the answers. */
  readonly requestState?: string;
  /** The server expects answers with the retry. Otherwise the retry repeats the call. */
  readonly takesAnswers: boolean;
}

const MAX_URL_LENGTH = 2048;
const MAX_MESSAGE_LENGTH = 500;
const MAX_KEY_LENGTH = 128;
const MAX_STATE_LENGTH = 65_536;
/** More are not shown. The server asks for the rest when these are answered. */
export const MAX_QUESTIONS = 8;

//= mcp-2026-07-28/elicitation#safe-url-handling
export function checkUrl(text: unknown): OfferedUrl {
  if (typeof text !== "string") return { refused: "is missing" };
  if (text.length > MAX_URL_LENGTH) return { refused: "is too long" };
  const url = URL.parse(text);
  if (url === null) return { refused: "is not a URL" };
  const isOpen = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackName(url.hostname));
  if (!isOpen) return { refused: "is not https" };
  if (url.username !== "" || url.password !== "") return { refused: "has user information, which hides its host" };
  const isMarked = url.hostname.split(".").some((label) => label.startsWith("xn--"));
  return { href: url.href, host: url.host, isMarked };
}

/**
 * The questions of a result of 2026-07-28.
 *
 * @throws OAuthError vendor_response_invalid when the server asks for something that the agent has
 *   not declared
 */
export function askedInResult({ inputRequests = {}, requestState }: InputRequiredResult): Asked {
  if (requestState !== undefined && requestState.length > MAX_STATE_LENGTH)
    return refuse("The server's state is too long");
  const questions = Object.entries(inputRequests)
    .slice(0, MAX_QUESTIONS)
    .map(([key, request]) => {
      const { method, params = {} } = request as { readonly method?: unknown; readonly params?: UrlParams };
      if (method !== "elicitation/create" || params.mode !== "url" || key.length > MAX_KEY_LENGTH) {
        return refuse("The server asks for something that this platform does not offer");
      }
      return toQuestion(key, params);
    });
  return { questions, takesAnswers: true, ...(requestState === undefined ? {} : { requestState }) };
}

/** The questions of error -32042 of 2025-11-25. */
export function askedInError(elicitations: unknown): Asked {
  if (!Array.isArray(elicitations)) return refuse("The server asks for nothing that can be shown");
  const questions = elicitations
    .slice(0, MAX_QUESTIONS)
    .map((params: UrlParams | undefined) => toQuestion("", params ?? {}));
  return { questions, takesAnswers: false };
}

/** As received: of any type. */
interface UrlParams {
  readonly mode?: unknown;
  readonly message?: unknown;
  readonly url?: unknown;
}

function toQuestion(key: string, { message, url }: UrlParams): LinkQuestion {
  return { key, about: plainText(key), message: plainText(message), url: checkUrl(url) };
}

/** Without the characters that reorder or hide the text around them. */
function plainText(text: unknown): string {
  return typeof text === "string" ? text.slice(0, MAX_MESSAGE_LENGTH).replaceAll(/[\p{Cc}\p{Cf}]/gu, " ") : "";
}

function refuse(description: string): never {
  throw refusal("question_refused", description, "vendor_response_invalid");
}

/** Cancelled if the URL was not offered: nothing was accepted there. */
export function answersTo(
  questions: readonly LinkQuestion[],
  answer: LinkAnswer,
): Readonly<Record<string, { readonly action: LinkAnswer }>> {
  return Object.fromEntries(
    questions.map(({ key, url }) => [key, { action: "refused" in url && answer === "accept" ? "cancel" : answer }]),
  );
}
