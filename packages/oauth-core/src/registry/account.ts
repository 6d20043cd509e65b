/**
 * How a vendor identifies the user of a token and says whether it is valid and what it lacks, as
 * data: members of `Vendor`. Read by vendor-client/userinfo and access-token, and if a server
 * calls the vendor's API. The default is OpenID Connect's way: the `sub` of the ID token, else of
 * userinfo.
 */
import type { JsonObject } from "../ports.ts";
import type { AbsoluteExpiry, MemberPath } from "./dialect.ts";

/**
 * Members that identify a user permanently and among all users of the vendor: joined with `:`
 * they are the identity. Never an e-mail address or a login, which another user may have one day.
 */
export type IdentityMembers = readonly [MemberPath, ...MemberPath[]];

/** The identity as it is contained in the issued tokens, so that no request is needed. */
export interface TokenIdentity {
  readonly from: "id_token" | "token_response";
  readonly members: IdentityMembers;
}

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

/** The host of a vendor with several, which the token response names. */
export interface HostOfTokenResponse {
  /** Its member: a host or a URL, instead of the endpoint's own. */
  readonly member: MemberPath;
  /** The vendor's domain that the host has to be below: it receives the access token. */
  readonly below: string;
}

/** The vendor's account of the user, if that is not OpenID Connect's userinfo. */
export interface AccountEndpoint {
  /** May contain the entry's `{placeholders}`. */
  readonly endpoint: string;
  readonly method: "GET" | "POST";
  /** Absent: that of `endpoint`. With it a token without its token response has no account. */
  readonly host?: HostOfTokenResponse;
  /** Sent as JSON: a GraphQL query. */
  readonly body?: JsonObject;
  /** Sent as a form; `{client_id}` in a value is replaced by our client id. */
  readonly form?: Readonly<Record<string, string>>;
  /** Headers that the vendor requires: a version, a `user-agent`, our client id as `{client_id}`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: `Authorization: Bearer`. */
  readonly token?: TokenPlace;
  /**
   * The member that holds the account, if that is not the response itself: `data`, or with `0` or
   * `data.0` the first of a list.
   */
  readonly member?: MemberPath;
  /** The member that marks a 200 as an error, and those of its values that refuse the token. */
  readonly refusal?: { readonly member: MemberPath; readonly values: readonly string[] };
  /**
   * The identity members of the account. Beside an `identity` of ID tokens they name the same user
   * by the same text, for tokens without one.
   */
  readonly identity?: IdentityMembers;
  /** The header of the response that lists the token's scopes, separated by commas. */
  readonly scopeHeader?: string;
}

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
export type ScopeRefusal =
  | { readonly from: "challenge" }
  | {
      readonly from: "headers";
      readonly status: number;
      readonly accepted: string;
      readonly granted: string;
      readonly separator: string;
    }
  | {
      readonly from: "body";
      readonly status: number;
      readonly member: MemberPath;
      readonly values: readonly string[];
      readonly scopes: MemberPath;
      readonly separator: string;
    };
