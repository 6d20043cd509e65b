/**
 * How a vendor tells whose a token is and whether it is good, as data: members of `Vendor`. Read by
 * vendor-client/userinfo and access-token. What a vendor's file says nothing of is OpenID Connect's way: the `sub` of
 * the ID token, else of userinfo.
 */
import type { JsonObject } from "../ports.ts";
import type { AbsoluteExpiry } from "./dialect.ts";

/** Names from the outside in, a position in a list by its number: `team.id`, `errors.0.extensions.code`. */
export type MemberPath = string;

/**
 * Members that name a person for good and among all of the vendor's: joined with `:` they are the identity. Never an e-mail
 * address or a login, which another person may have one day.
 */
export type IdentityMembers = readonly [MemberPath, ...MemberPath[]];

/** The identity as the vendor's tokens tell it when they are issued, so that nothing has to be asked. */
export interface TokenIdentity {
  readonly from: "id_token" | "token_response";
  readonly members: IdentityMembers;
}

/** The vendor's account of the person, asked for with the access token as Bearer, where that is not OpenID Connect's userinfo. */
export interface AccountEndpoint {
  readonly endpoint: string;
  readonly method: "GET" | "POST";
  /** Sent as JSON: a query of GraphQL. */
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** The member that holds the account, where that is not the answer itself. */
  readonly member?: MemberPath;
  /** The member that says that a 200 is none, and those of its values that refuse the token. */
  readonly refusal?: { readonly member: MemberPath; readonly values: readonly string[] };
  /** Of the account. */
  readonly identity?: IdentityMembers;
}

/** The vendor's own check of an access token, where it tells more than the account does: which client the token is for. */
export interface TokenCheck {
  /** `{client_id}` in it stands for ours. */
  readonly endpoint: string;
  readonly method: "GET" | "POST";
  /** `basic`: our id and secret, so that nothing can be asked without a secret; `bearer`: the token that is checked. */
  readonly authentication: "basic" | "bearer";
  /** The token's name in a JSON body. Absent: it is in the header alone. */
  readonly tokenParameter?: string;
  /** Of an answer that means: not good, or no longer, or not of this client. */
  readonly inactiveStatuses: readonly number[];
  /** Those that name the client the token was issued to. At least one is there, and all that are name the same. */
  readonly client: readonly [MemberPath, ...MemberPath[]];
  readonly identity?: IdentityMembers;
  readonly scope?: MemberPath;
  readonly expiry?: AbsoluteExpiry;
}
