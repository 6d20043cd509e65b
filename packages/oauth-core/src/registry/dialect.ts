/**
 * How vendors depart from the standard, as data: members of `Vendor` that have their own shape.
 * Read by vendor-client/, which knows the variants and no vendor; anything that fits none of them
 * is a function in the vendor's own file.
 */
import type { OAuthErrorCode } from "../protocol/errors.ts";

/**
 * Names from the outside in, a list position by its number: `team.id`, `errors.0.extensions.code`.
 */
export type MemberPath = string;

/** How a vendor revokes a token if that is not rfc7009. */
export interface RevocationDialect {
  readonly method: "POST" | "DELETE" | "GET";
  /** `basic`: our id and secret; `bearer`: the token that is to be revoked. */
  readonly authentication: "basic" | "bearer" | "none";
  /** The place of the token, under `tokenParameter`; `none`: only in a header. */
  readonly body: "form" | "json" | "query" | "none";
  readonly tokenParameter: string;
  /** Beside the token. In a value `{client_id}`, `{client_secret}` and `{token}` are filled. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** By names in lower case, filled in the same way. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a success says: a 200 without it has revoked nothing. */
  readonly success?: { readonly member: MemberPath; readonly values: readonly string[] };
  /** `grant`: all tokens of this user and client end with it. */
  readonly ends: "token" | "grant";
  /** Statuses that mean: unknown or already revoked. */
  readonly goneStatuses: readonly number[];
  /** Error codes of the same meaning, in addition to those every vendor may use. */
  readonly goneErrors?: readonly string[];
}

/**
 * How an access token is exchanged for one that lives longer, at a vendor without refresh tokens:
 * by a GET. In a value of its parameters `{token}`, `{client_id}` and `{client_secret}` are filled.
 */
export interface LongLivedToken {
  /** Where the token that comes with the code is exchanged, at the host where tokens are renewed. */
  readonly endpoint: string;
  readonly exchange: Readonly<Record<string, string>>;
  /** Renews a long-lived token, at the refresh endpoint. Absent: it is exchanged again. */
  readonly renewal?: Readonly<Record<string, string>>;
}

/**
 * A client secret that is a JWT, made again for every request: issued by the client's team for its
 * client id, signed with a key of the team.
 */
export interface SignedClientSecret {
  readonly kind: "signed_jwt";
  /** Its `aud`. */
  readonly audience: string;
  readonly alg: "ES256";
  readonly lifetimeSeconds: number;
}

/**
 * The vendor also takes an assertion instead of a secret (private_key_jwt), signed with the key of
 * a certificate, which the header names by its thumbprint (`x5t#S256`).
 */
export interface CertificateAssertion {
  readonly alg: "PS256";
}

/**
 * An issuer with one name per tenant: `{placeholder}` in it is a claim of the very token
 * that names it.
 */
export interface IssuerTemplate {
  readonly placeholder: string;
  readonly claim: string;
  /** A regular expression the whole claim must match. */
  readonly pattern: string;
  /**
   * The entry's placeholder that may name the tenant at the start: a value that matches `pattern`
   * pins it.
   */
  readonly pinnedBy?: string;
  /**
   * The only accepted tenant, compared without case; set when `pinnedBy` has named one, never in an
   * entry.
   */
  readonly pinned?: string;
}

/** A lifetime given as a point in time. */
export interface AbsoluteExpiry {
  readonly member: string;
  /** Since 1970; `date`: text of ISO 8601. */
  readonly unit: "seconds" | "milliseconds" | "date";
}

/**
 * A member that says whether the response is a success, regardless of the HTTP status: any other
 * value is an error code.
 */
export interface ResultMember {
  readonly member: string;
  readonly success: readonly (string | number | boolean)[];
}

/**
 * What a vendor's error means here: our code or, if that alone would mislead, also a reason for
 * programs and a sentence for users (printable ASCII without quotes).
 */
export type ErrorMeaning<Code extends OAuthErrorCode> =
  | Code
  | { readonly code: Code; readonly reason: string; readonly description: string };

/** Our codes that an error of a vendor's token or revocation endpoint can mean. */
export type TokenErrorCode = Extract<
  OAuthErrorCode,
  | "invalid_grant"
  | "invalid_scope"
  | "temporarily_unavailable"
  | "vendor_credentials_rejected"
  | "vendor_response_invalid"
>;

/**
 * What an error code means in some answers: those that pass every condition. A `member` that is not
 * text or a number has no value.
 */
export interface TokenErrorRule<Code extends OAuthErrorCode = TokenErrorCode> {
  /** The HTTP status. */
  readonly status?: number;
  /** A path, as `errorMember`, with `value` or `prefix`; default `error_description`. */
  readonly member?: string;
  /** The whole value of the member. */
  readonly value?: string;
  /** How the member's value begins. */
  readonly prefix?: string;
  readonly means: ErrorMeaning<Code>;
}

/**
 * A vendor's error codes at its token and revocation endpoint, and what they mean: always, or by
 * the first of the rules that fits. If none does, the code means what it means at every vendor.
 */
export type TokenErrors = Readonly<Record<string, ErrorMeaning<TokenErrorCode> | readonly TokenErrorRule[]>>;

/** The same for the `error` on the callback. */
export type CallbackErrors = Readonly<
  Record<
    string,
    ErrorMeaning<
      Extract<
        OAuthErrorCode,
        "access_denied" | "invalid_scope" | "server_error" | "temporarily_unavailable" | "vendor_credentials_rejected"
      >
    >
  >
>;
