/**
 * The ways an outcome leaves us: JSON, a JWT, a page, a redirect, a bearer challenge, and another server's own answer. Headers are
 * constants written once; nothing generic wraps a hot request. Framework-free values: the HTTP layer turns them into a Response.
 */
import { defined } from "../mechanics/defined.ts";
import { errorMembers, type OAuthError } from "../protocol/errors.ts";
import { redirectUrl, type VerifiedRedirect } from "../protocol/redirect-uri.ts";

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

/** Nothing we answer may be framed, load third-party content or run a script (bar CB-13). */
const LOCKED_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

const JSON_HEADERS = { ...COMMON, "content-type": "application/json", "content-security-policy": LOCKED_CSP };

/**
 * @returns an `application/json` answer that is not cached
 * @param headers in lower case, besides the constant ones and over them
 */
export function jsonAnswer(status: number, body: unknown, headers?: Record<string, string>): Answer {
  return {
    status,
    headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(body),
  };
}

const JWT_HEADERS = { ...JSON_HEADERS, "content-type": "application/jwt" };

/** @param jwt compact: here a JWE, whose claims are what `jsonAnswer` would have said */
//= rfc7519#10.3.1
export function jwtAnswer(status: number, jwt: string): Answer {
  return { status, headers: JWT_HEADERS, body: jwt };
}

/** Statuses of which no answer has a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/** A sandbox of its own as well: whatever a browser is made to do with it, it runs nothing and is nobody's page. */
const FOREIGN_CSP = `${LOCKED_CSP}; sandbox`;

/**
 * Another server's answer, passed on as it came under headers of our own.
 *
 * @param contentType as received; absent where the other server named none
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
 * A page whose form leads on to other sites. Browsers hold `form-action` against every redirect that follows a form too: the
 * vendor's own, to a sign-in host, and the client's. No list could name them, so the page must hold nothing but what is ours.
 */
export function formPageAnswer(html: string, styleHash: string, headers: Record<string, string>): Answer {
  const answer = pageAnswer(200, html, styleHash, headers);
  return {
    ...answer,
    headers: {
      ...answer.headers,
      "content-security-policy": `${LOCKED_CSP}; style-src ${styleHash}`,
      // Under no-referrer browsers post a form with `Origin: null`, which tells a server nothing of where it comes from.
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

/** 204: all there is to say is in the headers. */
export function emptyAnswer(headers: Record<string, string>): Answer {
  return { status: 204, headers: { ...COMMON, ...headers }, body: null };
}

const REDIRECT_HEADERS = { ...COMMON, "content-security-policy": LOCKED_CSP };

/** Always 303, so that no method or body travels on (bar CB-14). @param location checked by the caller's own rule */
//= rfc9700#4.12
export function redirectAnswer(location: string, headers?: Record<string, string>): Answer {
  return { status: 303, headers: { ...REDIRECT_HEADERS, location, ...headers }, body: null };
}

/**
 * RFC 6749 §5.2, with the status of the code's table.
 *
 * @param referenceId names a bug of ours in the log
 */
//= rfc6749#5.2
export function errorAnswer(error: OAuthError, flowId?: string, referenceId?: string): Answer {
  const members = errorMembers(error, flowId);
  const body = referenceId === undefined ? members : { ...members, reference_id: referenceId };
  return jsonAnswer(error.status, body, errorHeaders(error));
}

/** `WWW-Authenticate`, `Retry-After` and `Allow` where the status asks for them. */
export function errorHeaders(error: OAuthError): Record<string, string> {
  return {
    ...(error.status === 401 ? { "www-authenticate": 'Basic realm="oauth", charset="UTF-8"' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) }),
    ...(error.allow === undefined ? {} : { allow: error.allow }),
  };
}

/** The way back to a client whose redirect URI was verified: the only way an error becomes a redirect. */
export interface ClientReturn {
  readonly redirect: VerifiedRedirect;
  /** The client's own `state`, echoed byte for byte. */
  readonly state: string | undefined;
  readonly issuer: string;
  readonly flowId: string;
}

/** The browser goes back to its client with `error`, `error_description`, `state` and `iss`. */
//= rfc6749#4.1.2.1
//= rfc9207#2
export function errorRedirect(error: OAuthError, to: ClientReturn): Answer {
  return redirectAnswer(
    redirectUrl(to.redirect, { ...errorMembers(error, to.flowId), state: to.state, iss: to.issuer }),
  );
}

/**
 * The browser goes back to its client with `code`, `state`, `iss` and `flow_id`.
 *
 * @param headers besides the constant ones, such as the one that ends the flow's cookie
 */
//= rfc6749#4.1.2
export function codeRedirect(code: string, to: ClientReturn, headers: Record<string, string>): Answer {
  return redirectAnswer(
    redirectUrl(to.redirect, { code, state: to.state, iss: to.issuer, flow_id: to.flowId }),
    headers,
  );
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** @param header Authorization as received @returns the token; undefined where there is none that could be one */
//= rfc6750#2.1
export function bearerToken(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? "")?.[1];
}

/** What a `WWW-Authenticate: Bearer` header says (RFC 6750 §3). */
export interface BearerChallenge {
  /** Where the resource describes itself (RFC 9728). */
  readonly resourceMetadata?: string;
  /** What the request needs, space-separated. */
  readonly scope?: string;
  /** Absent where the request carried no token: then there is no error to name. */
  readonly error?: {
    readonly code: "invalid_token" | "insufficient_scope" | "invalid_request";
    readonly description: string;
  };
}

const BEARER_STATUS = { invalid_token: 401, insufficient_scope: 403, invalid_request: 400 } as const;

/** A protected resource turns a request away: 401 without or with a bad token, 403 where its scope is too narrow. */
//= rfc6750#3
//= rfc9728#5.1
export function bearerChallenge({ resourceMetadata, scope, error }: BearerChallenge): Answer {
  const members = {
    ...(error === undefined ? {} : { error: error.code, error_description: error.description }),
    ...defined({ scope }),
    ...(resourceMetadata === undefined ? {} : { resource_metadata: resourceMetadata }),
  };
  const parameters = Object.entries(members).map(
    ([name, value]) => `${name}="${value.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "")}"`,
  );
  const challenge = parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`;
  const status = error === undefined ? 401 : BEARER_STATUS[error.code];
  const body = error === undefined ? {} : { error: error.code, error_description: error.description };
  return jsonAnswer(status, body, { "www-authenticate": challenge });
}
