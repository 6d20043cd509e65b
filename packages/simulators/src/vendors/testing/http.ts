/**
 * Shared by the tests of the simulators: a user who clicks through, and plain requests to the
 * vendor, so that no client library hides its oddities.
 */
import { driveConsent, type DriveConsentOptions } from "../../drive-consent.ts";

/** The callback of the apps in these tests; no server listens there. */
export const CALLBACK = "http://127.0.0.1:9/callback";

/** The pair printed in RFC 7636 appendix B, and the verifier of another. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
export const OTHER_VERIFIER = "a".repeat(43);

export type Browse = Omit<DriveConsentOptions, "stopAt">;

/** Members of a query or form; undefined ones are left out. */
export type Members = Readonly<Record<string, string | undefined>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body, or an empty object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export function withQuery(endpoint: string, query: Members): URL {
  const url = new URL(endpoint);
  for (const [name, value] of given(query)) url.searchParams.append(name, value);
  return url;
}

/**
 * A user goes through the vendor's pages.
 *
 * @returns the parameters for the app
 */
export async function goThrough(url: URL, options: Browse = {}): Promise<Readonly<Record<string, string>>> {
  const callback = await driveConsent(url, { ...options, stopAt: ({ port }) => port === "9" });
  return Object.fromEntries(callback.searchParams);
}

/** The same from an endpoint. */
export function browse(endpoint: string, query: Members, options?: Browse): Promise<Readonly<Record<string, string>>> {
  return goThrough(withQuery(endpoint, query), options);
}

/**
 * The page that a user ends on.
 *
 * @throws Error when the vendor sends the browser back to the app instead
 */
export async function pageOf(url: URL, options?: Browse): Promise<Pick<Answer, "status" | "text">> {
  try {
    await goThrough(url, options);
  } catch (error) {
    const { status, body } = (error as Error).cause as { status: number; body: string };
    return { status, text: body };
  }
  throw new Error("The vendor sent the browser back to the app");
}

export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  const text = await answer.text();
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json") === true;
  const body = isJson && text !== "" ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: answer.status, headers: answer.headers, text, body };
}

export function postForm(
  url: string,
  members: Members,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return request(url, { method: "POST", body: new URLSearchParams(given(members)), headers });
}

export function postJson(
  url: string,
  members: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = JSON.stringify(members);
  return request(url, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

export function getJson(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return request(url, { headers });
}

export function basic(clientId: string, clientSecret: string): Record<string, string> {
  const encoded = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
  return { Authorization: `Basic ${encoded}` };
}

export function bearer(token: unknown): Record<string, string> {
  return { Authorization: `Bearer ${String(token)}` };
}

function given(members: Members): [string, string][] {
  return Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
