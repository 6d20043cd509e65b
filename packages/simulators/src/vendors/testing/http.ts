/**
 * Shared by the tests of the simulators: a user who clicks through, and raw requests to the vendor.
 */
import type { CookieJar } from "../../cookie-jar.ts";
import { driveConsent, type DriveConsentOptions } from "../../drive-consent.ts";

/** The callback of the apps in these tests; no server listens there. */
export const CALLBACK = "http://127.0.0.1:9/callback";

/** The pair printed in RFC 7636 appendix B. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

export interface Browse {
  readonly account?: NonNullable<DriveConsentOptions["account"]>;
  readonly decision?: NonNullable<DriveConsentOptions["decision"]>;
  readonly cookieJar?: CookieJar;
}

/** @returns the query of the callback the vendor sends the browser to */
export async function browse(
  url: string,
  query: Readonly<Record<string, string>>,
  options: Browse = {},
): Promise<Readonly<Record<string, string>>> {
  const start = `${url}?${new URLSearchParams(query).toString()}`;
  const end = await driveConsent(start, { ...options, stopAt: ({ port }) => port === "9" });
  return Object.fromEntries(end.searchParams);
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body, or an empty object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  const text = await answer.text();
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json") === true;
  const body = isJson && text !== "" ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: answer.status, headers: answer.headers, text, body };
}

/** Members that are undefined are left out. */
export function postForm(
  url: string,
  members: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) body.append(name, value);
  return request(url, { method: "POST", body, headers });
}

export function postJson(
  url: string,
  members: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = JSON.stringify(members);
  return request(url, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

export function basic(clientId: string, clientSecret: string): Record<string, string> {
  const encoded = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
  return { Authorization: `Basic ${encoded}` };
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}
