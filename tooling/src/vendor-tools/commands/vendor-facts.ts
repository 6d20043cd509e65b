/**
 * What metadata says of a vendor, in the fields of `Vendor`, and which fields it leaves open.
 * vendor-file.ts writes them.
 */
import { defined } from "@oauth-broker/oauth-core";
import {
  DEFAULT_ID_TOKEN_ALGS,
  type PkceMethod,
  type TokenEndpointAuthMethod,
  type Vendor,
} from "@oauth-broker/oauth-core/registry";
import { type Discovered, listIn } from "./discovery.ts";
import { refusal, WRONG } from "../refusal.ts";

/** Fields that differ from their default. */
export type VendorFacts = Pick<Vendor, "id" | "name" | "issuer"> & Partial<Vendor>;

export interface Facts {
  readonly vendor: VendorFacts;
  /** What metadata does not contain: the field, and what to find out. */
  readonly open: readonly string[];
}

/** @throws Refusal when the vendor offers nothing that the broker supports */
export function factsOf(id: string, name: string, issuer: string, { resolved, document }: Discovered): Facts {
  requireCodeFlow(listIn(document, "response_types_supported"), listIn(document, "grant_types_supported"));
  const challenges = listIn(document, "code_challenge_methods_supported");
  const scopes = listIn(document, "scopes_supported");
  const methods = listIn(document, "token_endpoint_auth_methods_supported");
  const algs = listIn(document, "id_token_signing_alg_values_supported");
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, registrationEndpoint, jwksUri, userinfoEndpoint } =
    resolved;
  const issuesIdTokens = algs !== undefined && jwksUri !== undefined;
  const vendor: VendorFacts = {
    id,
    name,
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    ...defined({ revocationEndpoint, registrationEndpoint, jwksUri, userinfoEndpoint }),
    ...defined({ pkce: pkceOf(challenges), tokenEndpointAuthMethod: authMethodOf(methods) }),
    ...(scopes?.includes("offline_access") === true ? { offlineScopes: ["offline_access"] } : {}),
    ...(issuesIdTokens ? defined({ idTokenAlgs: algsOf(algs) }) : { issuesIdTokens: false }),
  };
  const open = [
    ...(challenges === undefined ? ["pkce: metadata says nothing; written as S256, the default"] : []),
    ...(methods === undefined
      ? ["tokenEndpointAuthMethod: metadata says nothing; client_secret_basic is the default"]
      : []),
    `defaultScopes: which scopes a flow asks for when its caller names none${scopes === undefined ? "" : ` (metadata lists ${scopes.length})`}`,
    ...(vendor.offlineScopes === undefined
      ? ["offlineScopes, authorizationParams: what makes the vendor issue a refresh token"]
      : []),
    "rotatesRefreshTokens: whether a refresh ends the old refresh token",
    "authorizationCodeLifetimeSeconds: the lifetime of a code, if it is less than a minute",
    revocationEndpoint === undefined
      ? "revocationHelp: what a user can do by hand, because metadata names no revocation endpoint"
      : "revokes, revocation: which tokens it takes, and whether it is RFC 7009",
    "tokenErrors, callbackErrors: the vendor's own error codes",
    "callbackParams, userinfoEndpoint: further callback parameters, and the endpoint that names the user",
    "placeholders, setup, byoc, serverUrl: the setup that is required first, and where its MCP server is",
  ];
  return { vendor, open };
}

function requireCodeFlow(responses: readonly string[] | undefined, grants: readonly string[] | undefined): void {
  const lacks = [
    ...(responses?.includes("code") === false ? ["response type code"] : []),
    ...(grants?.includes("authorization_code") === false ? ["grant type authorization_code"] : []),
  ];
  if (lacks.length > 0) throw refusal(`The metadata does not offer ${lacks.join(" and ")}`, WRONG);
}

/** @returns undefined for S256, and without any statement */
function pkceOf(methods: readonly string[] | undefined): PkceMethod | undefined {
  if (methods === undefined || methods.includes("S256")) return undefined;
  return methods.includes("plain") ? "plain" : "none";
}

const AUTH_METHODS: readonly TokenEndpointAuthMethod[] = ["client_secret_basic", "client_secret_post", "none"];

/** @returns undefined for Basic, and without any statement */
function authMethodOf(methods: readonly string[] | undefined): TokenEndpointAuthMethod | undefined {
  if (methods === undefined) return undefined;
  const ours = AUTH_METHODS.find((method) => methods.includes(method));
  if (ours === undefined) {
    throw refusal(
      `The token endpoint supports none of ${AUTH_METHODS.join(", ")}, which are the methods of a Vendor`,
      WRONG,
    );
  }
  return ours === "client_secret_basic" ? undefined : ours;
}

/** @returns undefined when the default fits: it contains every offered algorithm */
function algsOf(offered: readonly string[]): readonly string[] | undefined {
  const ours = offered.filter((alg) => DEFAULT_ID_TOKEN_ALGS.includes(alg));
  if (ours.length === 0) {
    throw refusal(`ID tokens are signed with none of ${DEFAULT_ID_TOKEN_ALGS.join(", ")}`, WRONG);
  }
  return ours;
}
