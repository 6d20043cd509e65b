/**
 * The kinds of response: JSON, a JWT, a page, a redirect, a bearer challenge, and another server's
 * response passed on. Headers are constants; nothing generic wraps a hot request. Framework-free
 * values: the HTTP layer turns them into a Response.
 */
import { defined } from "../mechanics/defined.ts";
import { errorMembers, type OAuthError } from "../protocol/errors.ts";
import { redirectUrl, type VerifiedRedirect } from "../authorization-server/redirect-uri.ts";

/** A response as a plain value: status, headers in lower case, body. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

//= rfc6749#5.1
const COMMON = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** None of our responses may be framed, load third-party content or run a script (bar CB-13). */
const LOCKED_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

const JSON_HEADERS = { ...COMMON, "content-type": "application/json", "content-security-policy": LOCKED_CSP };

/**
 * @returns an `application/json` answer that is not cached
 * @param headers in lower case, in addition to the constant ones and over them
 */
export function jsonAnswer(status: number, body: unknown, headers?: Record<string, string>): Answer {
  return {
    status,
    headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(body),
  };
}

const JWT_HEADERS = { ...JSON_HEADERS, "content-type": "application/jwt" };

/** @param jwt compact: here a JWE, whose claims are what `jsonAnswer` would have sent */
//= rfc7519#10.3.1
export function jwtAnswer(status: number, jwt: string): Answer {
  return { status, headers: JWT_HEADERS, body: jwt };
}

/** Statuses whose responses have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/**
 * `sandbox` gives the response an opaque origin: a browser that is made to render it runs no script
 * and does not treat it as our page.
 */
const FOREIGN_CSP = `${LOCKED_CSP}; sandbox`;

/**
 * Another server's response, passed on with its status, type and bytes under our own headers.
 *
 * @param contentType as received; absent when the other server sent none
 */
export function foreignAnswer(status: number, contentType: string | undefined, body: Uint8Array<ArrayBuffer>): Answer {
  return {
    status,
    headers: {
      ...COMMON,
      "content-security-policy": FOREIGN_CSP,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
    },
    body: WITHOUT_BODY.has(status) ? null : body,
  };
}

/**
 * A page whose form leads to other sites. Browsers apply `form-action` also to every redirect after
 * the form: the vendor's, a sign-in host's, the client's. No list could name them all, so the
 * directive is left out and the page must contain only our own markup.
 */
export function formPageAnswer(html: string, styleHash: string, headers: Record<string, string>): Answer {
  const answer = pageAnswer(200, html, styleHash, headers);
  return {
    ...answer,
    headers: {
      ...answer.headers,
      "content-security-policy": `${LOCKED_CSP}; style-src ${styleHash}`,
      // Under no-referrer, browsers post a form with `Origin: null`, which does not show where it
      // comes from.
      "referrer-policy": "same-origin",
    },
  };
}

/** @param styleHash `'sha256-…'` of the page's one inline style sheet */
export function pageAnswer(status: number, html: string, styleHash: string, headers?: Record<string, string>): Answer {
  return {
    status,
    headers: {
      ...COMMON,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${LOCKED_CSP}; style-src ${styleHash}; form-action 'self'`,
      "x-frame-options": "DENY",
      ...headers,
    },
    body: html,
  };
}

/** 204: everything is in the headers. */
export function emptyAnswer(headers: Record<string, string>): Answer {
  return { status: 204, headers: { ...COMMON, ...headers }, body: null };
}

const REDIRECT_HEADERS = { ...COMMON, "content-security-policy": LOCKED_CSP };

/**
 * Always 303, so that no method or body travels on (bar CB-14).
 * @param location checked by the caller's own rule
 */
//= rfc9700#4.12
export function redirectAnswer(location: string, headers?: Record<string, string>): Answer {
  return { status: 303, headers: { ...REDIRECT_HEADERS, location, ...headers }, body: null };
}

/**
 * RFC 6749 §5.2, with the status from the table of error codes.
 *
 * @param referenceId names an unexpected internal error in the log
 */
//= rfc6749#5.2
export function errorAnswer(error: OAuthError, flowId?: string, referenceId?: string): Answer {
  const members = errorMembers(error, flowId);
  const body = referenceId === undefined ? members : { ...members, reference_id: referenceId };
  return jsonAnswer(error.status, body, errorHeaders(error));
}

const CHALLENGES = { Basic: 'Basic realm="oauth", charset="UTF-8"', Bearer: 'Bearer realm="oauth"' } as const;

/** `WWW-Authenticate`, `Retry-After` and `Allow` if the status asks for them. */
export function errorHeaders(error: OAuthError): Record<string, string> {
  return {
    ...(error.status === 401 ? { "www-authenticate": CHALLENGES[error.challenge] } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) }),
    ...(error.allow === undefined ? {} : { allow: error.allow }),
  };
}

/**
 * Where an error is returned to: a client whose redirect URI was verified. The only way an error
 * becomes a redirect.
 */
export interface ClientReturn {
  readonly redirect: VerifiedRedirect;
  /** The client's own `state`, echoed byte for byte. */
  readonly state: string | undefined;
  readonly issuer: string;
  readonly flowId: string;
}

/**
 * The browser goes back to its client with `error`, `error_description`, `state` and `iss`.
 *
 * @param trace of the request, which logs the error like one that is returned as a page
 */
//= rfc6749#4.1.2.1
//= rfc9207#2
//= bar#AS-18
export function errorRedirect(error: OAuthError, to: ClientReturn, trace: { failure?: OAuthError }): Answer {
  trace.failure = error;
  return redirectAnswer(
    redirectUrl(to.redirect, { ...errorMembers(error, to.flowId), state: to.state, iss: to.issuer }),
  );
}

/**
 * The browser goes back to its client with `code`, `state`, `iss` and `flow_id`.
 *
 * @param headers in addition to the constant ones, such as the one that ends the flow's cookie
 */
//= rfc6749#4.1.2
export function codeRedirect(code: string, to: ClientReturn, headers: Record<string, string>): Answer {
  return redirectAnswer(
    redirectUrl(to.redirect, { code, state: to.state, iss: to.issuer, flow_id: to.flowId }),
    headers,
  );
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * @param header Authorization as received
 * @returns the token; undefined when the header carries none that is well formed
 */
//= rfc6750#2.1
export function bearerToken(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? "")?.[1];
}

/** What a `WWW-Authenticate: Bearer` header says (RFC 6750 §3). */
export interface BearerChallenge {
  /** Where the resource's metadata is (RFC 9728). */
  readonly resourceMetadata?: string;
  /** The scope the request needs, space-separated. */
  readonly scope?: string;
  /** Absent when the request carried no token: no error is named then. */
  readonly error?: {
    readonly code: "invalid_token" | "insufficient_scope" | "invalid_request";
    readonly description: string;
  };
}

const BEARER_STATUS = { invalid_token: 401, insufficient_scope: 403, invalid_request: 400 } as const;

/**
 * A protected resource refuses a request: 401 without a token or with a bad one, 403 when its scope
 * is insufficient.
 */
//= rfc6750#3
//= rfc9728#5.1
export function bearerChallenge({ resourceMetadata, scope, error }: BearerChallenge): Answer {
  const body = error === undefined ? {} : { error: error.code, error_description: error.description };
  const members = { ...body, ...defined({ scope, resource_metadata: resourceMetadata }) };
  const parameters = Object.entries(members).map(
    ([name, value]) => `${name}="${value.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "")}"`,
  );
  const challenge = parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`;
  const status = error === undefined ? 401 : BEARER_STATUS[error.code];
  return jsonAnswer(status, body, { "www-authenticate": challenge });
}
