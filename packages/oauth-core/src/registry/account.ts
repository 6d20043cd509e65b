/**
 * How a vendor identifies the user of a token and says whether it is valid and what it lacks, as
 * data: members of `Vendor`. Read by vendor-client/userinfo and access-token, and if a server
 * calls the vendor's API. The default is OpenID Connect's way: the `sub` of the ID token, else of
 * userinfo.
 */
import type { AbsoluteExpiry, MemberPath } from "./dialect.ts";
import type { ANSWER_FIELDS } from "./fields/answers.ts";
import type { ENDPOINT_FIELDS } from "./fields/endpoints.ts";
import type { ValueOf } from "./fields/shape.ts";

/**
 * Members that identify a user permanently and among all users of the vendor: joined with `:`
 * they are the identity. Never an e-mail address or a login, which another user may have one day.
 */
export type IdentityMembers = readonly [MemberPath, ...MemberPath[]];

/** The identity as it is contained in the issued tokens, so that no request is needed. */
export type TokenIdentity = Exclude<ValueOf<typeof ANSWER_FIELDS.identity>, string>;

/**
 * Where a request carries the access token, if that is not `Authorization: Bearer` (rfc6750#2.1):
 *
 * - `header`: `authorization` or the header of this name, with this scheme before the token, or
 *   with the token alone.
 * - `query`: a parameter of the URL (rfc6750#2.3). Our code writes that URL nowhere.
 * - `path`: `{access_token}` in the endpoint. The same holds.
 * - `form`: a parameter of the body (rfc6750#2.2).
 */
export type TokenPlace =
  | { readonly in: "header"; readonly name?: string; readonly scheme?: string }
  | { readonly in: "path" }
  | { readonly in: "query" | "form"; readonly name: string };

/** The vendor's account of the user, if that is not OpenID Connect's userinfo. */
export type AccountEndpoint = Omit<ValueOf<typeof ENDPOINT_FIELDS.account>, "token"> & {
  readonly token?: TokenPlace;
};

/**
 * The vendor's own check of an access token, if it reports more than the account does: which
 * client the token is for.
 */
export interface TokenCheck {
  /** `{client_id}` in it is replaced by our client id. */
  readonly endpoint: string;
  readonly method: "GET" | "POST";
  /**
   * `basic`: our id and secret, so the check needs a secret; `bearer`: the checked token itself.
   */
  readonly authentication: "basic" | "bearer";
  /** The token's name in a JSON body. Absent: it is in the header alone. */
  readonly tokenParameter?: string;
  /** Statuses that mean: not valid, expired, or not issued to this client. */
  readonly inactiveStatuses: readonly number[];
  /**
   * Members that name the client the token was issued to. At least one is present, and all present
   * ones name the same.
   */
  readonly client: readonly [MemberPath, ...MemberPath[]];
  readonly identity?: IdentityMembers;
  readonly scope?: MemberPath;
  readonly expiry?: AbsoluteExpiry;
}

/**
 * How a vendor's API says which scope a token lacks, if rfc6750#3.1 does not say it all:
 *
 * - `challenge`: it does, and any one of the scopes in the challenge is enough.
 * - `headers`: one names the scopes of which any is accepted, another the scopes of the token.
 * - `body`: a member of the JSON body has an error code, another the scopes that are all needed.
 */
export type ScopeRefusal = ValueOf<typeof ANSWER_FIELDS.scopeRefusal>;
