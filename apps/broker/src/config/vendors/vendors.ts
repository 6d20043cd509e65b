/**
 * Vendors: the registry's entry if there is one, the operator's fields over it, and the credentials
 * to use.
 */
import { defined } from "@oauth-broker/oauth-core";
import { isReservedAuthorizationParameter } from "@oauth-broker/oauth-core/protocol";
import {
  defineVendor,
  FIELDS,
  RESPONSE_MODES,
  usualClientsOf,
  type Vendor,
  withOperatorsFields,
} from "@oauth-broker/oauth-core/registry";
import type { Environment } from "@oauth-broker/service/configuration";
import { formatPath, type Problem, type Say, sayIn } from "../problems.ts";
import type { Tree } from "../source.ts";
import { CUSTOM_VENDOR } from "../../vendor-choice/request.ts";
import type { VendorConfig, VendorTemplate } from "../../config-types.ts";
import { checkPins, checkPlaceholders, choosesDomain, isMoved, withRegistry } from "./placeholders.ts";
import { tenancyOf } from "./tenants.ts";
import { buildCredentials, checkCredentials } from "./credentials.ts";
import type { ParsedVendor } from "../schema/vendor.ts";
import { writtenFields } from "../schema/vendor-fields.ts";

export type VendorRegistry = ReadonlyMap<string, VendorTemplate>;

/** A parked vendor code is kept until 5 s before it expires. */
const PARKING_MARGIN_SECONDS = 5;

/**
 * Finds problems between the fields of a vendor that the operator defines, which must give its name
 * and its endpoints. Works on the tree as written.
 */
export function checkVendors({ vendors, base_url: own }: Tree, registry: VendorRegistry, say: Say): void {
  if (typeof vendors !== "object" || vendors === null) return;
  for (const [id, entry] of Object.entries(vendors) as [string, unknown][]) {
    const path = ["vendors", id];
    for (const [field, value] of Object.entries(entry ?? {})) {
      // As its own vendor the broker would redirect browsers to itself.
      if (typeof own !== "string" || typeof value !== "string" || !value.startsWith(own)) continue;
      if (/^\/?$|^\/v1\//.test(value.slice(own.length)))
        say([...path, field], "is of this broker itself, base_url", "an address of the vendor");
    }
    const alias = aliasTarget(id, entry, registry);
    if (id === CUSTOM_VENDOR) say(path, "is the id of vendors that requests describe", "another id");
    else if (alias !== undefined && Object.hasOwn(vendors, alias)) {
      say(path, `is another name of ${alias}, which is there as well`, `one entry, under ${alias}`);
    } else if (!registry.has(id) && typeof entry === "object" && entry !== null && !presence(entry).located) {
      say(
        path,
        "is not a vendor of the registry, so it is one of your own, and lacks an issuer (or authorization_endpoint and token_endpoint)",
        "a registry vendor's id (GET /v1/vendors lists them), or an entry with an issuer or both endpoints",
        "{ name: My Vendor, issuer: https://vendor.example }",
      );
    }
  }
}

function presence(entry: object) {
  const has = (name: string): boolean => Object.hasOwn(entry, name);
  return { has, located: has("issuer") || (has("authorization_endpoint") && has("token_endpoint")) };
}

/**
 * The registry's vendor that an id of the file is another name of, never that id itself. An entry
 * that is complete by itself is the operator's own vendor, regardless of its id.
 */
export function aliasTarget(id: string, entry: unknown, registry: VendorRegistry): string | undefined {
  const known = registry.get(id)?.vendor.id;
  if (known === undefined || known === id) return undefined;
  if (typeof entry !== "object" || entry === null) return known;
  const { has, located } = presence(entry);
  return has("name") && located ? undefined : known;
}

/**
 * @param problems receives what is wrong
 * @param warnings receives what deserves a warning
 */
export function buildVendor(
  id: string,
  parsed: ParsedVendor,
  known: VendorTemplate | undefined,
  { env, problems, warnings }: { env: Environment; problems: Problem[]; warnings: string[] },
): VendorConfig {
  const fields = operatorsFields(parsed, known?.vendor);
  const { vendor, dropped } =
    known === undefined
      ? { vendor: defineVendor({ id, name: id, ...fields }), dropped: [] }
      : withOperatorsFields(withoutReplacedIdentity(known.vendor, parsed), fields);
  if (dropped.includes("revocationEndpoint")) {
    warnings.push(
      `Vendor ${vendor.id} has a token_endpoint of yours and no revocation_endpoint: the registry's revocation endpoint is at another domain and must not receive these tokens, so revocation answers unsupported_token_type`,
    );
  }
  const credentials = buildCredentials(id, parsed.credentials, { env, problems });
  const say = sayIn(problems, ["vendors", id]);

  for (const [name, value] of Object.entries(parsed.authorizationParams ?? {})) {
    if (name === "response_mode" && !RESPONSE_MODES.some((mode) => mode === value)) {
      say(["authorization_params", name], "is a parameter only the broker sets to this", RESPONSE_MODES.join(" or "));
    } else if (name !== "response_mode" && isReservedAuthorizationParameter(name, vendor)) {
      say(["authorization_params", name], "is a parameter only the broker sets, as this vendor calls it", "another");
    }
  }
  const lifetime = vendor.authorizationCodeLifetimeSeconds;
  if (vendor.redeemAt === "token" && lifetime !== undefined && lifetime <= PARKING_MARGIN_SECONDS) {
    say(
      ["authorization_code_lifetime_seconds"],
      "is too short for codes to be parked",
      "more than 5, or redeem_at: callback",
    );
  }
  if (parsed.account !== undefined && parsed.userinfoEndpoint !== undefined) {
    say(["account"], "is beside userinfo_endpoint, which says the same in another way", "one of the two");
  }
  const misplaced = vendor.account && FIELDS.account.check(vendor.account);
  if (parsed.userinfoEndpoint !== undefined && misplaced !== undefined) {
    say(["userinfo_endpoint"], misplaced, "an address with {access_token}");
  }
  if (parsed.revocation !== undefined && (vendor.revocationEndpoint ?? vendor.issuer) === undefined) {
    say(["revocation"], "is without a revocation_endpoint", "the address where tokens are revoked");
  }
  checkCredentials(vendor, credentials, parsed.credentials, { say, env, warnings });
  const placeholders = withRegistry(parsed, known?.placeholders);
  checkPins(parsed, known?.placeholders, say);
  checkPlaceholders(parsed, placeholders, vendor, say);
  const tenancy = tenancyOf(parsed, vendor, placeholders, credentials, isMoved(parsed) ? undefined : known);
  for (const [index, name] of tenancy.misfits) {
    say(
      ["credentials", index, "placeholders", name],
      "has a value that is no tenant of this vendor",
      `values of ${formatPath(["vendors", id, "placeholders", name, "values"])}, at a vendor with clients_of: tenant`,
    );
  }
  const nowhere = Object.entries(tenancy.tenants ?? {}).filter(([, values]) => values.length === 0);
  if (credentials.length > 0 && choosesDomain(vendor, placeholders)) {
    warnings.push(
      `Vendor ${id} has a placeholder that can fill a whole domain: clients must bring their own credentials, because the broker never uses its own there`,
    );
  } else if (credentials.length > 0 && nowhere.length > 0) {
    const lists = nowhere.map(([name]) => formatPath(["vendors", id, "placeholders", name, "values"])).join(" and ");
    warnings.push(
      `Vendor ${id} has tenants that issue their own clients, and no ${lists}: the broker's credentials are used at none of them. List those that issued them, or set clients_of: vendor if the client is good at every tenant`,
    );
  }
  warnings.push(...relaxations(id, parsed));
  const { clientsOf: _, ...facts } = { setup: "none" as const, byoc: true, ...known };
  return {
    ...facts,
    vendor,
    placeholders: tenancy.placeholders,
    ...(tenancy.clientsOf === usualClientsOf(vendor, tenancy.placeholders) ? {} : { clientsOf: tenancy.clientsOf }),
    setup: parsed.setup ?? facts.setup,
    ...(isKnownToRegisterNone(vendor, parsed, known) ? { registersNoClients: true } : {}),
    credentials,
    ...defined({
      accountBy: accountByFile(parsed, vendor),
      initialAccessToken: parsed.initialAccessToken,
      tenants: tenancy.tenants,
    }),
  };
}

/** How the file identifies the user of a token. */
function accountByFile(
  { userinfoEndpoint, account, identity }: ParsedVendor,
  vendor: Vendor,
): VendorConfig["accountBy"] {
  const isNamed = vendor.account === undefined || vendor.account.identity !== undefined;
  const isAsked = (userinfoEndpoint ?? account) !== undefined && isNamed;
  if (!isAsked && typeof identity !== "object") return undefined;
  return (account ?? identity ?? vendor.account) === undefined ? "userinfo" : "own";
}

/** An issuer that the operator sets may publish what the registry does not know. */
function isKnownToRegisterNone(vendor: Vendor, { issuer }: ParsedVendor, known: VendorTemplate | undefined): boolean {
  return (
    known !== undefined &&
    vendor.registrationEndpoint === undefined &&
    (issuer ?? known.vendor.issuer) === known.vendor.issuer
  );
}

/** Warns if the operator's own fields weaken a protection. */
function relaxations(id: string, { pkce, issRequired }: ParsedVendor): string[] {
  const risks = [
    pkce === "none" &&
      "pkce none: nothing binds its codes to the flow they were issued for, so a stolen code can be used",
    pkce === "plain" && "pkce plain: an attacker who reads the authorization request can use the code issued for it",
    issRequired === false &&
      "iss_required false: its callbacks are accepted without iss, so an answer of another vendor is harder to detect",
  ];
  return risks.filter((risk) => risk !== false).map((risk) => `Vendor ${id} has ${risk}`);
}

/** What the operator has written; an operator knows one error code more than the registry, not all of them. */
function operatorsFields(parsed: ParsedVendor, known: Pick<Vendor, "tokenErrors"> | undefined): Partial<Vendor> {
  const { name, tokenErrors, tokenEndpointAuthMethod: method } = parsed;
  return {
    ...writtenFields(parsed),
    ...defined({ name }),
    ...(method === undefined ? {} : { statesAuthMethod: true }),
    ...(tokenErrors === undefined ? {} : { tokenErrors: { ...known?.tokenErrors, ...tokenErrors } }),
  };
}

/** The operator's account replaces the identity that the entry finds in tokens. */
function withoutReplacedIdentity({ identity, ...vendor }: Vendor, { account }: ParsedVendor): Vendor {
  return { ...vendor, ...(account === undefined ? defined({ identity }) : {}) };
}
