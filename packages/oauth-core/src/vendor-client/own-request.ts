/** Requests for which no standard has a form: registrations, and accounts, checks and revocations of an entry. */
import { FORM_TYPE } from "../egress/messages.ts";
import { defined } from "../mechanics/defined.ts";
import type { JsonValue } from "../ports.ts";

/** One of them: all but its address and its signal. */
export interface OwnRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect: "manual";
}

interface Content {
  readonly json?: JsonValue | undefined;
  readonly form?: Readonly<Record<string, string>> | undefined;
}

/** @param headers in addition to the usual ones, in lower case */
export function ownRequest(
  method: string,
  headers: Readonly<Record<string, string>> = {},
  { json, form }: Content = {},
): OwnRequest {
  const type = json !== undefined ? "application/json" : form !== undefined ? FORM_TYPE : undefined;
  const body = json !== undefined ? JSON.stringify(json) : form && new URLSearchParams(form).toString();
  const usual = { accept: "application/json", "user-agent": "oauth-broker", "content-type": type };
  return { method, headers: { ...defined(usual), ...headers }, redirect: "manual", ...defined({ body }) };
}
