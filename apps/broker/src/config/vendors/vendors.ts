/** Vendors: the registry's entry if there is one, the operator's fields over it, and the credentials to use there. */
import { defined } from "@oauth-broker/oauth-core";
import { registrableDomainOf } from "@oauth-broker/oauth-core/egress";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import type { Environment } from "@oauth-broker/oauth-core/configuration";
import { formatPath, type Problem } from "../problems.ts";
import type { Tree } from "../source.ts";
import { CUSTOM_VENDOR } from "../../vendor/request.ts";
import type { VendorConfig, VendorTemplate } from "../types.ts";
import { choosesDomain, placeholderProblems, placeholderSpecs } from "./placeholders.ts";
import { buildCredentials, credentialProblems } from "./credentials.ts";
import type { ParsedVendor } from "../schema/vendor.ts";

export type VendorRegistry = ReadonlyMap<string, VendorTemplate>;

/** A code that must wait for the backend is parked until 5 s before it dies. */
const PARKING_MARGIN_SECONDS = 5;

/**
 * Problems between the fields of a vendor of the operator's own: it must say who it is and where.
 * Works on the tree as written.
 */
export function checkVendors(tree: Tree, registry: VendorRegistry): Problem[] {
  const { vendors } = tree;
  if (typeof vendors !== "object" || vendors === null) return [];
  return Object.entries(vendors).flatMap(([id, entry]: [string, unknown]): Problem[] => {
    if (id === CUSTOM_VENDOR) {
      const problem = "is the id of vendors that requests describe";
      return [{ path: formatPath(["vendors", id]), problem, expected: "another id" }];
    }
    if (registry.has(id) || typeof entry !== "object" || entry === null) return [];
    const has = (name: string): boolean => Object.hasOwn(entry, name);
    const located = has("issuer") || (has("authorization_endpoint") && has("token_endpoint"));
    if (has("name") && located) return [];
    const missing = [
      ...(has("name") ? [] : ["a name"]),
      ...(located ? [] : ["an issuer (or authorization_endpoint and token_endpoint)"]),
    ];
    const path = formatPath(["vendors", id]);
    return [
      {
        path,
        problem: `is not a vendor of the registry, so it is one of your own, and lacks ${missing.join(" and ")}`,
        expected:
          "a registry vendor's id (GET /v1/vendors lists them), or a name with either an issuer or both endpoints",
        example: "{ name: My Vendor, issuer: https://vendor.example }",
      },
    ];
  });
}

/** @param problems, warnings are added to */
export function buildVendor(
  id: string,
  parsed: ParsedVendor,
  known: VendorTemplate | undefined,
  { env, problems, warnings }: { env: Environment; problems: Problem[]; warnings: string[] },
): VendorConfig {
  const configured = defineVendor({ id, name: id, ...known?.vendor, ...vendorFields(parsed) });
  const vendor = dropEndpointsOfReplacedHost(configured, parsed, known?.vendor, warnings);
  const credentials = buildCredentials(id, parsed.credentials, env);
  const say = (field: readonly (string | number)[], problem: string, expected: string): void => {
    problems.push({ path: formatPath(["vendors", id, ...field]), problem, expected });
  };

  const lifetime = vendor.authorizationCodeLifetimeSeconds;
  if (vendor.redeemAt === "token" && lifetime !== undefined && lifetime <= PARKING_MARGIN_SECONDS) {
    say(
      ["authorization_code_lifetime_seconds"],
      "is too short for codes to be parked",
      "more than 5, or redeem_at: callback",
    );
  }
  problems.push(...credentialProblems(vendor, credentials, parsed.credentials, warnings));
  const placeholders = { ...known?.placeholders, ...placeholderSpecs(parsed) };
  for (const { field, problem, expected } of placeholderProblems(parsed, placeholders, vendor)) {
    say(field, problem, expected);
  }
  if (credentials.length > 0 && choosesDomain(vendor, placeholders)) {
    warnings.push(
      `Vendor ${id} has a placeholder that can fill a whole domain: clients need credentials of their own there, and the broker's are never used`,
    );
  }
  warnings.push(...relaxations(id, parsed));
  return {
    vendor,
    placeholders,
    setup: parsed.setup ?? known?.setup ?? "none",
    byoc: known?.byoc ?? true,
    ...(isKnownToRegisterNone(vendor, parsed, known) ? { registersNoClients: true } : {}),
    ...(parsed.userinfo_endpoint === undefined ? {} : { asksUserinfo: true }),
    credentials,
    ...defined({
      serverUrl: known?.serverUrl,
      verification: known?.verification,
      initialAccessToken: parsed.initial_access_token,
    }),
  };
}

/** An issuer of the operator's may publish what the registry does not know of. */
function isKnownToRegisterNone(vendor: Vendor, { issuer }: ParsedVendor, known: VendorTemplate | undefined): boolean {
  return (
    known !== undefined &&
    vendor.registrationEndpoint === undefined &&
    (issuer ?? known.vendor.issuer) === known.vendor.issuer
  );
}

/** What the operator's own fields take away, or seem to bring. */
function relaxations(id: string, parsed: ParsedVendor): string[] {
  const { pkce, iss_required: issRequired } = parsed;
  const warnings: string[] = [];
  if (pkce === "none") {
    warnings.push(
      `Vendor ${id} has pkce none: nothing binds its codes to the flow that asked, so a thief of one may use it`,
    );
  }
  if (pkce === "plain") {
    warnings.push(
      `Vendor ${id} has pkce plain: a reader of the authorization request can use the code that answers it`,
    );
  }
  if (issRequired === false) {
    warnings.push(
      `Vendor ${id} has iss_required false: its callbacks are accepted without iss, so an answer of another vendor is harder to tell from its own`,
    );
  }
  return warnings;
}

function vendorFields(parsed: ParsedVendor): Partial<Vendor> {
  return defined({
    name: parsed.name,
    issuer: parsed.issuer,
    authorizationEndpoint: parsed.authorization_endpoint,
    tokenEndpoint: parsed.token_endpoint,
    refreshEndpoint: parsed.refresh_endpoint,
    revocationEndpoint: parsed.revocation_endpoint,
    registrationEndpoint: parsed.registration_endpoint,
    jwksUri: parsed.jwks_uri,
    userinfoEndpoint: parsed.userinfo_endpoint,
    pkce: parsed.pkce,
    scopeSeparator: parsed.scope_separator,
    defaultScopes: parsed.default_scopes,
    authorizationParams: parsed.authorization_params,
    authorizationCodeLifetimeSeconds: parsed.authorization_code_lifetime_seconds,
    redeemAt: parsed.redeem_at,
    tokenEndpointAuthMethod: parsed.token_endpoint_auth_method,
    tokenRequestBody: parsed.token_request_body,
    issRequired: parsed.iss_required,
    idTokenAlgs: parsed.id_token_algs,
    rotatesRefreshTokens: parsed.rotates_refresh_tokens,
    callbackParams: parsed.callback_params,
    enabled: parsed.enabled,
    acceptsNewAuthorizations: parsed.accepts_new_authorizations,
  });
}

/**
 * The token endpoint of a registry vendor that the operator has moved: what the registry says of
 * its further endpoints is about the host that was left, and tokens of the new one do not go there
 * (docs/decisions/0016). Refreshing follows the token endpoint; revocation stays only where it is
 * the same party's.
 *
 * @param vendor the registry's, with the operator's fields over it
 * @param known as the registry has it
 * @param warnings is added to
 */
//= bar#BY-4
export function dropEndpointsOfReplacedHost(
  vendor: Vendor,
  parsed: ParsedVendor,
  known: Vendor | undefined,
  warnings: string[],
): Vendor {
  const { token_endpoint: moved } = parsed;
  if (moved === undefined || known?.tokenEndpoint === undefined || moved === known.tokenEndpoint) return vendor;
  const { refreshEndpoint, revocationEndpoint, ...rest } = vendor;
  const isForeign =
    parsed.revocation_endpoint === undefined &&
    revocationEndpoint !== undefined &&
    registrableDomainOf(revocationEndpoint) !== registrableDomainOf(moved);
  if (isForeign) {
    warnings.push(
      `Vendor ${vendor.id} has a token_endpoint of yours and no revocation_endpoint: the registry's is at another domain and gets none of these tokens, so revocation answers unsupported_token_type`,
    );
  }
  return {
    ...rest,
    ...(parsed.refresh_endpoint === undefined || refreshEndpoint === undefined ? {} : { refreshEndpoint }),
    ...(isForeign || revocationEndpoint === undefined ? {} : { revocationEndpoint }),
  };
}
