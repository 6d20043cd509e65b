/**
 * What every refusal must look like, in every test: the error table of docs/api.md,
 * read once.
 */
import { expect } from "vitest";
import { words } from "./corpora/words.ts";

/** An answer that was read to its end. */
export interface ReadAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; empty when it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

export async function readAnswer(response: Response): Promise<ReadAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: membersOf(text) };
}

function membersOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Used in requests if a value is free: no answer may ever contain it. */
export const REFLECTED = 'r3flect<script>alert("x")</script>';

const MEMBERS = new Set(
  words(`error error_description flow_id reason retry vendor_error credentials_source help
  reference_id`),
);

/**
 * A JSON error of an endpoint for backends.
 * @returns its body
 */
export function expectError(answer: ReadAnswer, status: number, error: string): ReadAnswer["body"] {
  const { body, headers } = answer;
  expect({ status: answer.status, error: body["error"] }, answer.text).toEqual({ status, error });
  expect(headers.get("content-type")).toBe("application/json");
  expectSafe(answer);
  expect(body["error_description"]).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(Object.keys(body).filter((name) => !MEMBERS.has(name))).toEqual([]);
  expect(headers.has("www-authenticate")).toBe(status === 401);
  expect(headers.has("retry-after")).toBe(status === 503 || status === 429);
  expect(headers.has("allow")).toBe(status === 405);
  if (headers.has("retry-after")) expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  return body;
}

/**
 * A page, for errors that must not redirect.
 * @returns its HTML
 */
export function expectPage(answer: ReadAnswer, status: number, reason?: string): string {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expectSafe(answer);
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
  if (reason !== undefined) expect(answer.text).toContain(`<code>${reason}</code>`);
  return answer.text;
}

/**
 * An error that goes back to the platform.
 * @returns the redirect's query
 */
export function expectErrorRedirect(
  answer: ReadAnswer,
  to: { readonly redirectUri: string; readonly error: string; readonly state?: string; readonly iss: string },
): Readonly<Record<string, string>> {
  expect(answer.status, answer.text).toBe(303);
  const location = new URL(answer.headers.get("location") ?? "");
  expect(location.href.startsWith(`${to.redirectUri}?`)).toBe(true);
  const query = Object.fromEntries(location.searchParams);
  const { redirectUri: _, ...members } = to;
  expect(query).toMatchObject({ ...members, error_description: expect.any(String) });
  expect(query["flow_id"]).toMatch(/^[\w-]{22}$/);
  expect(query).not.toHaveProperty("code");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  return query;
}

/**
 * A refusal of any kind: JSON, a page, or a redirect to the client.
 *
 * @param iss of the service
 */
export function expectRefusalShape(answer: ReadAnswer, iss: string): void {
  const location = URL.parse(answer.headers.get("location") ?? "");
  const error = location?.searchParams.get("error");
  if (location !== null && typeof error === "string") {
    expectErrorRedirect(answer, { redirectUri: location.origin + location.pathname, error, iss });
  } else if (answer.status >= 400) {
    if (answer.headers.get("content-type")?.startsWith("text/html") === true) expectPage(answer, answer.status);
    else expectError(answer, answer.status, String(answer.body["error"]));
  }
}

function expectSafe({ headers, text }: ReadAnswer): void {
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.has("location")).toBe(false);
  expect(headers.has("access-control-allow-origin")).toBe(false);
  expect(text).not.toContain("r3flect");
}
