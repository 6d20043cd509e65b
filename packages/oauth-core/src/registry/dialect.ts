/**
 * How vendors depart from the standard, as data: members of `Vendor` that have their own shape.
 * Read by vendor-client/, which knows the variants and no vendor; anything that fits none of them
 * is a function in the vendor's own file.
 */
import type { OAuthErrorCode } from "../protocol/errors.ts";
import type { ANSWER_FIELDS, CALLBACK_ERROR_CODES, TOKEN_ERROR_CODES } from "./fields/answers.ts";
import type { ENDPOINT_FIELDS } from "./fields/endpoints.ts";
import type { REQUEST_FIELDS } from "./fields/requests.ts";
import type { ValueOf } from "./fields/shape.ts";

/**
 * Names from the outside in, a list position by its number: `team.id`, `errors.0.extensions.code`.
 */
export type MemberPath = string;

/** How a vendor revokes a token if that is not rfc7009. */
export type RevocationDialect = ValueOf<typeof ANSWER_FIELDS.revocation>;

/**
 * How an access token is exchanged for one that lives longer, at a vendor without refresh tokens:
 * by a GET. In a value of its parameters `{token}`, `{client_id}` and `{client_secret}` are filled.
 */
export type LongLivedToken = ValueOf<typeof ENDPOINT_FIELDS.longLivedToken>;

/**
 * A client secret that is a JWT, made again for every request: issued by the client's team for its
 * client id, signed with a key of the team.
 */
export type SignedClientSecret = ValueOf<typeof REQUEST_FIELDS.clientSecret>;

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
export type AbsoluteExpiry = ValueOf<typeof ANSWER_FIELDS.tokenExpiry>;

/**
 * A member that says whether the response is a success, regardless of the HTTP status: any other
 * value is an error code.
 */
export type ResultMember = ValueOf<typeof ANSWER_FIELDS.tokenResult>;

/**
 * What a vendor's error means here: our code or, if that alone would mislead, also a reason for
 * programs and a sentence for users (printable ASCII without quotes).
 */
export type ErrorMeaning<Code extends OAuthErrorCode> =
  | Code
  | { readonly code: Code; readonly reason: string; readonly description: string };

type TokenErrorCode = (typeof TOKEN_ERROR_CODES)[number];

/**
 * What an error code means in some answers: those that pass every condition. A `member` that is not
 * text or a number has no value.
 */
export type TokenErrorRule<Code extends OAuthErrorCode = TokenErrorCode> = Omit<
  ValueOf<typeof ANSWER_FIELDS.tokenErrors.of.of>,
  "means"
> & { readonly means: ErrorMeaning<Code> };

/**
 * A vendor's error codes at its token and revocation endpoint, and what they mean: always, or by
 * the first of the rules that fits. If none does, the code means what it means at every vendor.
 */
export type TokenErrors = Readonly<Record<string, ErrorMeaning<TokenErrorCode> | readonly TokenErrorRule[]>>;

/** The same for the `error` on the callback. */
export type CallbackErrors = Readonly<Record<string, ErrorMeaning<(typeof CALLBACK_ERROR_CODES)[number]>>>;
