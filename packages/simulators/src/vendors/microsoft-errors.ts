/**
 * Microsoft's errors by their AADSTS number, as the token endpoint's body and as parameters of a
 * callback.
 *
 * Seen: the body's members and the description's form (MicrosoftDocs/entra-docs
 * v2-oauth2-auth-code-flow.md; bodies of 65001, 50076 and 7000222 in public threads, the newest of
 * 2026-09), numbers 65001, 65004, 90094, 900941, 50105, 901002, 9010010. The documented
 * codes for consent and interaction are `consent_required` and `interaction_required`; observed is
 * `invalid_grant` with a `suberror`: `settings.tokenErrors` chooses.
 * Recalled: `error_uri` on the callback; the other numbers and which `error`
 * each comes with if the above do not say.
 */
import { randomUUID } from "node:crypto";
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { MicrosoftClient, MicrosoftSettings } from "./microsoft-settings.ts";

interface KnownError {
  readonly error: string;
  readonly text: string;
  /** Default 400. */
  readonly status?: number;
  /** Replaces `error` with `tokenErrors: "observed"`. */
  readonly observed?: { readonly error: string; readonly suberror: string };
}

const INTERACTION = { error: "interaction_required", observed: { error: "invalid_grant", suberror: "basic_action" } };

const UNPROVEN = { error: "invalid_client", status: 401 };

const ERRORS = {
  AADSTS50011: { error: "invalid_request", text: "The redirect URI in the request is not one of the application's." },
  AADSTS50058: { error: "login_required", text: "A silent sign-in was requested but no user is signed in." },
  AADSTS50076: { ...INTERACTION, text: "You must use multi-factor authentication to access the resource." },
  AADSTS50079: { ...INTERACTION, text: "You must enroll in multi-factor authentication to access the resource." },
  AADSTS50105: { error: "access_denied", text: "The signed in user is not assigned to a role for the application." },
  AADSTS50173: { error: "invalid_grant", text: "The provided grant has expired due to it being revoked." },
  AADSTS53003: { ...INTERACTION, text: "Access has been blocked by Conditional Access policies." },
  AADSTS54005: { error: "invalid_grant", text: "OAuth2 Authorization code was already redeemed." },
  AADSTS65001: {
    error: "consent_required",
    observed: { error: "invalid_grant", suberror: "consent_required" },
    text: "The user or administrator has not consented to use the application.",
  },
  AADSTS65004: { error: "access_denied", text: "User declined to consent to access the app." },
  AADSTS70003: { error: "unsupported_grant_type", text: "The grant type is not supported." },
  AADSTS70008: { error: "invalid_grant", text: "The provided authorization code or refresh token has expired." },
  AADSTS70011: { error: "invalid_scope", text: "The provided value for the input parameter 'scope' is not valid." },
  AADSTS90002: { error: "invalid_request", text: "Tenant not found." },
  AADSTS90094: { error: "access_denied", text: "The grant requires admin permission." },
  AADSTS500011: { error: "invalid_resource", text: "The resource principal was not found in the tenant." },
  AADSTS500112: { error: "invalid_client", text: "The reply address does not match the one used for the code." },
  AADSTS501481: { error: "invalid_grant", text: "The Code_Verifier does not match the code_challenge." },
  AADSTS700005: { error: "invalid_grant", text: "The code is intended to use against another tenant." },
  AADSTS700016: { error: "unauthorized_client", text: "The application was not found in the directory." },
  AADSTS700023: { ...UNPROVEN, text: "The client assertion's audience does not match." },
  AADSTS700024: { ...UNPROVEN, text: "The client assertion is not within its valid time." },
  AADSTS700027: { ...UNPROVEN, text: "The client assertion failed signature validation." },
  AADSTS700082: { error: "invalid_grant", text: "The refresh token has expired due to inactivity." },
  AADSTS900144: { error: "invalid_request", text: "The request must contain another parameter." },
  AADSTS900941: { error: "access_denied", text: "Admin consent is required; the application is considered risky." },
  AADSTS901002: { error: "invalid_request", text: "The 'resource' request parameter is not supported." },
  AADSTS7000215: { ...UNPROVEN, text: "Invalid client secret provided." },
  AADSTS7000218: { ...UNPROVEN, text: "The request must contain client_assertion or client_secret." },
  AADSTS7000222: { ...UNPROVEN, text: "The provided client secret keys are expired." },
  AADSTS9002313: { error: "invalid_grant", text: "Invalid request. Request is malformed or invalid." },
  AADSTS9010010: {
    error: "invalid_target",
    text: "The resource parameter provided in the request doesn't match with the requested scopes.",
  },
} as const satisfies Readonly<Record<string, KnownError>>;

export type AadstsCode = keyof typeof ERRORS;

/** The `claims` a client has to send back to pass multi-factor authentication. */
export const MFA_CLAIMS = JSON.stringify({ access_token: { acrs: { essential: true, value: "c1" } } });

const WITH_CLAIMS: readonly AadstsCode[] = ["AADSTS50076", "AADSTS50079"];

/** Refusals that `refuseNext` can cause. */
export const AUTHORIZATION_ERRORS = named("50105 500011 53003 65001 65004 700016 90094 900941");
export const TOKEN_ERRORS = named(
  "50076 50079 50105 50173 53003 54005 500011 65001 70008 700016 700082 7000215 7000222",
);

function named(numbers: string): readonly AadstsCode[] {
  return numbers.split(" ").map((number) => `AADSTS${number}` as AadstsCode);
}

/** Whose clock and address the error has. */
type Where = Pick<VendorHost<MicrosoftClient>, "now" | "url">;

/** The token endpoint's answer. */
export function tokenError(code: AadstsCode, host: Where, tokenErrors: MicrosoftSettings["tokenErrors"]): Response {
  const { error, observed, status = 400 }: KnownError = ERRORS[code];
  const isObserved = tokenErrors === "observed" && observed !== undefined;
  const [traceId, correlationId, timestamp] = [randomUUID(), randomUUID(), timestampOf(host.now())];
  const body = {
    error: isObserved ? observed.error : error,
    error_description: describe(code, traceId, correlationId, timestamp),
    error_codes: [Number(code.slice("AADSTS".length))],
    timestamp,
    trace_id: traceId,
    correlation_id: correlationId,
    error_uri: pageOf(code, host.url),
    ...(isObserved ? { suberror: observed.suberror } : {}),
    ...(WITH_CLAIMS.includes(code) ? { claims: MFA_CLAIMS } : {}),
  };
  return json(body, status);
}

/** @returns the error parameters of a callback */
export function callbackError(code: AadstsCode, { now, url }: Where): Record<string, string> {
  return {
    error: ERRORS[code].error,
    error_description: describe(code, randomUUID(), randomUUID(), timestampOf(now())),
    error_uri: pageOf(code, url),
    ...(code === "AADSTS65004" ? { error_subcode: "cancel" } : {}),
  };
}

function pageOf(code: AadstsCode, url: string): string {
  return `${url}/error?code=${code.slice("AADSTS".length)}`;
}

export function textOf(code: AadstsCode): string {
  return `${code}: ${ERRORS[code].text}`;
}

function describe(code: AadstsCode, traceId: string, correlationId: string, timestamp: string): string {
  return `${textOf(code)} Trace ID: ${traceId} Correlation ID: ${correlationId} Timestamp: ${timestamp}`;
}

function timestampOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
