/**
 * A vendor as data: its endpoints and how it departs from the standard. `Vendor` is what
 * an entry states; `ResolvedVendor` is an entry whose endpoints are known (discovered, expanded).
 */
import type { KeyObject } from "node:crypto";
import type { JsonObject } from "../ports.ts";
import type { Secret } from "../protocol/secret.ts";
import type { AccountEndpoint, ScopeRefusal, TokenCheck, TokenIdentity } from "./account.ts";
import type {
  AbsoluteExpiry,
  CallbackErrors,
  CertificateAssertion,
  IssuerTemplate,
  LongLivedToken,
  MemberPath,
  ResultMember,
  RevocationDialect,
  SignedClientSecret,
  TokenErrors,
} from "./dialect.ts";

/** The code_challenge_method towards the vendor (RFC 7636 §4.3); `none` if it has no PKCE. */
export type PkceMethod = "S256" | "plain" | "none";
/** How we authenticate at the vendor's token endpoint (RFC 7591 §2); `none`: as a public client. */
export type TokenEndpointAuthMethod = "client_secret_basic" | "client_secret_post" | "none";
/** An endpoint of the standard's that flows do not go through. */
export type FurtherEndpoint =
  | Exclude<Extract<keyof Vendor, `${string}Endpoint`>, "authorizationEndpoint" | "tokenEndpoint" | "refreshEndpoint">
  | "jwksUri";

/** An entry: a vendor's endpoints, and in which ways it departs from the standard. */
export interface Vendor {
  /** Lower case letters, digits and `-`. */
  readonly id: string;
  readonly name: string;
  /**
   * The vendor's issuer, compared byte for byte. Endpoints that are absent below are discovered
   * from it.
   */
  readonly issuer?: string;
  /**
   * `bare`: ID tokens and callbacks may leave its scheme out; the issuer that is passed on has it.
   */
  readonly issuerSpelling: "exact" | "bare";
  readonly issuerTemplate?: IssuerTemplate;
  /**
   * `false`: an `id_token` of this vendor is not OpenID Connect's and is dropped. Unset: it has ID
   * tokens when it has an issuer.
   */
  readonly issuesIdTokens?: boolean;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** Where refresh requests go when that is not the token endpoint. */
  readonly refreshEndpoint?: string;
  /** With `revocation`, `{client_id}` in it is replaced by our client id. */
  readonly revocationEndpoint?: string;
  readonly revocation?: RevocationDialect;
  /** The type of token its revocation takes. */
  readonly revokes: "access_token" | "refresh_token" | "either";
  /**
   * What the user can do by hand when a token cannot be revoked. Printable ASCII without quotes.
   */
  readonly revocationHelp?: string;
  readonly registrationEndpoint?: string;
  readonly jwksUri?: string;
  /** OpenID Connect's: another account endpoint is `account`. */
  readonly userinfoEndpoint?: string;
  readonly introspectionEndpoint?: string;
  /**
   * For an MCP server's own authorization server: the server, whose document has to name the issuer.
   * The endpoints above are compared with the issuer's metadata; a difference ends the flow.
   */
  readonly serverUrl?: string;
  /** With `serverUrl`: those of the members above that precede the metadata. */
  readonly operatorsEndpoints?: readonly FurtherEndpoint[];
  readonly account?: AccountEndpoint;
  /** Takes precedence over introspection and the account, if it can be used. */
  readonly tokenCheck?: TokenCheck;
  /**
   * `unknown`: no source says that the tokens identify a user permanently; only an account can.
   * Unset: the default of account.ts.
   */
  readonly identity?: TokenIdentity | "unknown";
  /**
   * What is identified is an organization: a shop, the account of a company. Enough for a link; its
   * users are not distinguished, so that none can be signed in by it.
   */
  readonly identifies?: "organization";
  /**
   * Hosts a user's access token may be sent to, with a leading dot for all hosts below a domain.
   * Empty: not known.
   */
  readonly apiHosts: readonly string[];
  /** Unset: its API says it as rfc6750#3.1 does, or not at all. */
  readonly scopeRefusal?: ScopeRefusal;
  readonly pkce: PkceMethod;
  readonly scopeSeparator: string;
  /** The authorization parameter that carries the scopes. */
  readonly scopeParameter: string;
  readonly defaultScopes: readonly string[];
  /** By scope what it allows, for the user who is asked: in English, without a full stop. */
  readonly scopeMeanings?: Readonly<Record<string, string>>;
  /**
   * Requested in addition to the caller's scopes: without them the vendor issues no refresh token.
   */
  readonly offlineScopes: readonly string[];
  /** `omit`: the vendor refuses requests with rfc8707's parameter. */
  readonly resource: "send" | "omit";
  /** Sent when the caller names none: the vendor refuses a request without it. */
  readonly defaultResource?: string;
  /**
   * Our parameters under another name, in authorization and token requests: `client_id:
   * "client_key"`. Empty: left out.
   */
  readonly parameterNames: Readonly<Record<string, string>>;
  /** Names of the authorization request alone, if they differ from `parameterNames`. */
  readonly authorizationParameterNames?: Readonly<Record<string, string>>;
  /**
   * Fixed parameters of every authorization request. The entry's `{placeholders}` in a value are
   * filled like those of its URLs.
   */
  readonly authorizationParams: Readonly<Record<string, string>>;
  /**
   * Sent as `redirect_uri` in both requests: the vendor's name of the address that is registered
   * there. The entry's `{placeholders}` in it are filled.
   */
  readonly redirectUriAlias?: string;
  /** What the vendor calls the response type `code`. */
  readonly responseType?: string;
  /** Fixed parameters of the token request for a code. */
  readonly codeExchangeParams?: Readonly<Record<string, string>>;
  /** Fixed parameters of a refresh request. */
  readonly refreshParams?: Readonly<Record<string, string>>;
  /**
   * Access tokens live longer after an exchange, and renew themselves: a caller receives the
   * long-lived token as refresh token too.
   */
  readonly longLivedToken?: LongLivedToken;
  /** How long the vendor's codes live, if it is known. */
  readonly authorizationCodeLifetimeSeconds?: number;
  /** `callback`: codes expire too fast to be parked, so the tokens are parked instead. */
  readonly redeemAt: "token" | "callback";
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** The operator's file states the method: metadata does not decide. */
  readonly statesAuthMethod?: true;
  /** With `client_secret_basic`: the secret is the user name, and the password is empty. */
  readonly secretIsUserName?: true;
  /**
   * Its client secrets are signed, not issued: clients have a key. A secret that the caller signed
   * is sent unchanged.
   */
  readonly clientSecret?: SignedClientSecret;
  readonly clientAssertion?: CertificateAssertion;
  readonly tokenRequestBody: "form" | "json";
  /**
   * Further headers of token requests, by names in lower case. Not sent to an endpoint of which a
   * caller names a part: a value may be an operator's key.
   */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /**
   * The member of the token response that holds the token set, if that is not the response
   * itself, or a path to it: `data.0`.
   */
  readonly tokenResponseMember?: MemberPath;
  /** Standard members under another name: `access_token: "accessToken"`. */
  readonly tokenResponseNames: Readonly<Record<string, string>>;
  readonly tokenExpiry?: AbsoluteExpiry;
  /** Lifetime of access tokens whose response says none. */
  readonly defaultLifetimeSeconds?: number;
  /** Lifetime of refresh tokens whose response says none. */
  readonly defaultRefreshLifetimeSeconds?: number;
  readonly tokenResult?: ResultMember;
  /** Where the error code of a refusal is, when that is not `error`. */
  readonly errorMember?: MemberPath;
  /**
   * Codes of this vendor alone; the standard's, and spellings many vendors share, are in
   * vendor-client/errors.ts.
   */
  readonly tokenErrors: TokenErrors;
  readonly callbackErrors: CallbackErrors;
  /**
   * Rewrites a response that no field above describes to one that they describe.
   *
   * @param members a success, as parsed; each member once
   */
  readonly readTokenResponse?: (members: JsonObject) => JsonObject;
  /**
   * The code of a response, or of an error on the callback, whose code is not its `error`, or if
   * `error` says less than the rest.
   *
   * @param members of the token response as parsed, or the parameters of the callback
   * @returns a key of `tokenErrors` or `callbackErrors`, or a standard code; undefined if the
   *   usual reading is right
   */
  readonly classifyError?: (members: JsonObject) => string | undefined;
  /** The callback must carry `iss`. Unset: required when the vendor's metadata advertises it. */
  readonly issRequired?: boolean;
  readonly idTokenAlgs: readonly string[];
  /**
   * Its ID tokens name further audiences beside the client: a project, sibling clients, itself.
   * Then `azp` has to name the client.
   */
  readonly additionalAudiences?: boolean;
  /** `false`: the vendor issues no refresh tokens. Unset: it may. */
  readonly issuesRefreshTokens?: boolean;
  /**
   * Whether a refresh ends the old refresh token, if that is known; `false` even if a new token
   * is issued and both stay valid.
   */
  readonly rotatesRefreshTokens?: boolean;
  /** Its sign-in takes `prompt=select_account` (OpenID Connect Core §3.1.2.1), which few do. */
  readonly choosesAccount?: true;
  /** The token request for the code repeats the `state` of the callback. */
  readonly repeatsState?: true;
  /** What the callback calls its `code`; a parameter `code` beside it is not read. */
  readonly callbackCodeName?: string;
  /** Further callback parameters passed on in `vendor_data`. */
  readonly callbackParams: readonly string[];
  /** Those of `callbackParams` that the token request for the code repeats. */
  readonly echoedCallbackParams?: readonly string[];
  /** Those of `callbackParams` that are kept with the tokens, and that every refresh repeats. */
  readonly refreshCallbackParams?: readonly string[];
  readonly enabled: boolean;
  /** `false`: no new flows; refresh and revoke still work. */
  readonly acceptsNewAuthorizations: boolean;
}

/** Endpoints of one vendor as they are used in a flow, after discovery. */
export interface ResolvedVendor extends Omit<Vendor, "serverUrl" | "operatorsEndpoints"> {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /**
   * Metadata advertises `authorization_response_iss_parameter_supported`, or the entry says
   * `issRequired`.
   */
  readonly issExpected: boolean;
  /** What its metadata demands of every flow and we do not do, or not with every client. */
  readonly demands?: readonly VendorDemand[];
  /** Its metadata has no other response mode, and the entry states none. */
  readonly responseMode?: "form_post";
}

/** The response modes that our callbacks can take. */
export const RESPONSE_MODES = ["query", "form_post"] as const;

/** The last three only of clients without a key, and of flows that ask for `openid`. */
export type VendorDemand =
  | "pushed_requests_required"
  | "signed_requests_required"
  | "response_type_not_supported"
  | "response_mode_not_supported"
  | "client_authentication_not_supported"
  | "keys_not_published"
  | "id_token_algs_not_supported";

/** One vendor client: what we are registered as at the vendor. */
export interface VendorCredentials {
  /** Names the entry in the operator's list, for logs and the sealed `connection`. */
  readonly id: string;
  readonly source: "shared" | "byoc" | "environment";
  readonly clientId: string;
  /** Absent for a public client, and if a key is used. */
  readonly clientSecret?: Secret;
  /** The signing key, if the vendor's client secrets are signed. */
  readonly signingKey?: ClientSigningKey;
  /** The certificate, if the vendor takes one instead of a secret and the operator has one. */
  readonly certificate?: ClientCertificate;
}

/** What an assertion is signed with (`CertificateAssertion`). */
export interface ClientCertificate {
  /** Fits the vendor's `alg`. */
  readonly privateKey: KeyObject;
  /** SHA-256 of the certificate's DER, base64url. */
  readonly thumbprint: string;
}

/** What a client secret is signed with (`SignedClientSecret`). */
export interface ClientSigningKey {
  /** Its issuer. */
  readonly teamId: string;
  readonly keyId: string;
  /** Fits the vendor's `alg`. */
  readonly privateKey: KeyObject;
}

/** A vendor's token response after normalising: one shape for all vendors. */
export interface VendorTokens {
  readonly accessToken: string;
  /** `Bearer` unless the vendor names another type that is not a spelling of bearer. */
  readonly tokenType: string;
  /** Present only when the vendor gave a usable, positive lifetime. */
  readonly expiresInSeconds?: number;
  readonly refreshToken?: string;
  /** How long the refresh token in this answer lives; present only when the vendor gave a usable, positive lifetime. */
  readonly refreshExpiresInSeconds?: number;
  readonly scope?: readonly string[];
  /** Present only when signature and claims passed every check. */
  readonly idToken?: { readonly raw: string; readonly issuer: string; readonly subject: string };
  /** Every other member of the answer. */
  readonly vendorData: JsonObject;
}

/** `Ed25519` is RFC 9864's name for `EdDSA` with that curve. */
export const DEFAULT_ID_TOKEN_ALGS: readonly string[] = ["RS256", "ES256", "PS256", "EdDSA", "Ed25519"];

/** Fills an entry's defaults: S256, space-separated scopes, Basic, form bodies, enabled. */
export function defineVendor(entry: Partial<Vendor> & Pick<Vendor, "id" | "name">): Vendor {
  return {
    pkce: "S256",
    issuerSpelling: "exact",
    revokes: "either",
    scopeSeparator: " ",
    scopeParameter: "scope",
    defaultScopes: [],
    offlineScopes: [],
    resource: "send",
    parameterNames: {},
    authorizationParams: {},
    redeemAt: "token",
    tokenEndpointAuthMethod: "client_secret_basic",
    tokenRequestBody: "form",
    tokenResponseNames: {},
    tokenErrors: {},
    callbackErrors: {},
    idTokenAlgs: DEFAULT_ID_TOKEN_ALGS,
    apiHosts: [],
    callbackParams: [],
    enabled: true,
    acceptsNewAuthorizations: true,
    ...entry,
  };
}

/** With a client secret: it is used, even by an entry whose clients need none. */
export function withSecret<Known extends Vendor | ResolvedVendor>(vendor: Known): Known {
  return vendor.tokenEndpointAuthMethod === "none"
    ? { ...vendor, tokenEndpointAuthMethod: "client_secret_basic" }
    : vendor;
}
