/**
 * Requests of the tests of simulated vendors: plain HTTP, so that no client library hides a
 * vendor's oddity.
 */
import { createHash, randomBytes } from "node:crypto";
import { driveConsent, type DriveConsentOptions } from "../../drive-consent.ts";

/** No server listens there: a test stops before it. */
export const CALLBACK = "http://127.0.0.1:9/callback";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is not a JSON object. */
  readonly body: Record<string, unknown> | undefined;
  readonly text: string;
}

export interface PkcePair {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkcePair(): PkcePair {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Absent members are left out. */
export function withQuery(endpoint: string, query: Readonly<Record<string, string | undefined>>): URL {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.append(name, value);
  return url;
}

/**
 * A user goes through the vendor's pages.
 *
 * @returns the parameters for the app
 */
export async function goThrough(
  url: URL,
  options: Omit<DriveConsentOptions, "stopAt"> = {},
): Promise<Record<string, string>> {
  const callback = await driveConsent(url, { ...options, stopAt: ({ port }) => port === "9" });
  return Object.fromEntries(callback.searchParams);
}

/**
 * The page that a user ends on.
 *
 * @throws Error when the vendor sends the browser back to the app instead
 */
export async function pageOf(url: URL, options: Omit<DriveConsentOptions, "stopAt"> = {}): Promise<Answer> {
  try {
    await goThrough(url, options);
  } catch (error) {
    const { status, body } = (error as Error).cause as { status: number; body: string };
    return { status, headers: new Headers(), body: undefined, text: body };
  }
  throw new Error("The vendor sent the browser back to the app");
}

export function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(url, { method: "POST", body: new URLSearchParams(form), headers });
}

export function postJson(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const all = { "Content-Type": "application/json", ...headers };
  return send(url, { method: "POST", body: JSON.stringify(body), headers: all });
}

export function getJson(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(url, { headers });
}

export async function send(url: string, request: RequestInit): Promise<Answer> {
  const answer = await fetch(url, request);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: objectOf(text), text };
}

export function basic(id: string, secret: string): Record<string, string> {
  const parts = [id, secret].map((part) => encodeURIComponent(part)).join(":");
  return { Authorization: `Basic ${Buffer.from(parts).toString("base64")}` };
}

export function bearer(token: unknown): Record<string, string> {
  return { Authorization: `Bearer ${String(token)}` };
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
