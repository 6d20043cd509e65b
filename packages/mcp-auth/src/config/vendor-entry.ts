/**
 * Resolves VENDOR: an entry of the registry with the operator's URLs applied, or an entry that the
 * operator defines; its {placeholders} are filled, and every URL is checked against the egress
 * rules. Called by vendor.ts.
 */
import { defined, nearest, OAuthError } from "@oauth-broker/oauth-core";
import {
  canIdentify,
  expandVendor,
  requireFit,
  templatesOf,
  withDefaults,
} from "@oauth-broker/oauth-core/vendor-client";
import {
  parseStringMap,
  placeholderNames,
  type PlaceholderSpecs,
  requireKnownPlaceholders,
} from "@oauth-broker/oauth-core/protocol";
import {
  addressOf,
  checkMemberPath,
  defineVendor,
  fieldOf,
  FIELDS,
  type OperatorsVendor,
  ownKindOf,
  REGISTRY,
  type RegistryEntry,
  type ResolvedVendor,
  type TokenRecipient,
  URL_VARIABLE_FIELDS,
  type UrlVariableField,
  type Vendor,
  withOperatorsFields,
} from "@oauth-broker/oauth-core/registry";
import { checkEgressUrl } from "@oauth-broker/oauth-core/egress";
import { checkVendorId, splitList } from "@oauth-broker/service/configuration";
import { PATHS } from "../resource/paths.ts";
import type { CommonSettings } from "../settings.ts";
import { readChoice, type Reader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

type UrlVariable = (typeof FIELDS)[UrlVariableField]["variable"]["name"] | "VENDOR_ACCOUNT_URL";
/** As written, {placeholders} included. */
type GivenUrls = Readonly<Partial<Record<UrlVariable, string>>>;

/** The field of `Vendor` that each variable sets, unless a vendor has its own kind of it. */
const FIELD_OF: ReadonlyMap<UrlVariable, UrlVariableField> = new Map(
  URL_VARIABLE_FIELDS.map((field) => [FIELDS[field].variable.name, field]),
);
const URL_VARIABLES: readonly UrlVariable[] = [...FIELD_OF.keys(), "VENDOR_ACCOUNT_URL"];

export interface VendorEntry {
  /** Placeholders filled. */
  readonly vendor: Vendor;
  /** Absent: the operator's own vendor. */
  readonly entry: RegistryEntry | undefined;
}

/** @returns undefined when the vendor cannot be determined: the reader holds the reason */
export function readVendorEntry(read: Reader, rules: CommonSettings["egress"]): VendorEntry | undefined {
  const given: GivenUrls = defined(Object.fromEntries(URL_VARIABLES.map((name) => [name, read.value(name)])));
  const pkce = readChoice(read, "VENDOR_PKCE");
  const id = read.text("VENDOR", checkVendorId);
  if (read.value("VENDOR") === undefined) read.refuse("VENDOR", "is missing");
  const areGood = URL_VARIABLES.map((name) => checkWritten(read, name, given[name], rules)).every(Boolean);
  const entry = id === undefined ? undefined : REGISTRY.get(id);
  if (id === undefined || !isUsable(read, { id, entry, given }) || !areGood) return undefined;
  const located = withUrls(entry?.vendor ?? defineVendor({ id, name: id }), given);
  warnOfDropped(read, located.dropped);
  const misplaced = located.vendor.account && FIELDS.account.check(located.vendor.account);
  if (misplaced !== undefined) read.refuse("VENDOR_USERINFO_URL", misplaced);
  const filling = { read, entry, given, rules };
  const identified = withOperatorsAccount(located.vendor, given.VENDOR_ACCOUNT_URL, read);
  const vendor = fill({ ...identified, enabled: true, ...defined({ pkce }) }, filling);
  return vendor !== undefined && checkFilled(vendor, filling) ? { vendor, entry } : undefined;
}

function isUsable(
  read: Reader,
  { id, entry, given }: { readonly id: string; readonly entry: RegistryEntry | undefined; readonly given: GivenUrls },
): boolean {
  const isLocated =
    given.VENDOR_ISSUER !== undefined ||
    (given.VENDOR_AUTHORIZATION_URL !== undefined && given.VENDOR_TOKEN_URL !== undefined);
  if (entry === undefined && !isLocated) {
    const near = nearest(id, REGISTRY.keys());
    const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
    read.refuse(
      "VENDOR",
      `is not a vendor of the registry${meant}, and one of your own needs VENDOR_ISSUER, or VENDOR_AUTHORIZATION_URL and VENDOR_TOKEN_URL`,
    );
    return false;
  }
  if (entry?.vendor.enabled === false) {
    const why = entry.verification.reasonsOff?.join("; ") ?? "the registry has it off";
    if (!isLocated) {
      read.refuse("VENDOR", `is off in the registry: ${why}. Give VENDOR_AUTHORIZATION_URL and VENDOR_TOKEN_URL`);
      return false;
    }
    read.warn(`VENDOR is off in the registry, and used with the endpoints you gave: ${why}`);
  }
  return true;
}

/** The operator's URLs replace the registry's; the rest of the entry stays if it may. */
function withUrls(vendor: Vendor, given: GivenUrls): OperatorsVendor {
  const fields = [...FIELD_OF].map(([variable, field]) => [field, given[variable]]);
  return withOperatorsFields(vendor, defined(Object.fromEntries(fields)));
}

/**
 * VENDOR_ACCOUNT_URL and VENDOR_IDENTITY: the account of a vendor that otherwise identifies no
 * user.
 *
 * @returns the vendor as it was without one, or with one that is refused
 */
function withOperatorsAccount(vendor: Vendor, endpoint: string | undefined, read: Reader): Vendor {
  const [first, ...others] = read.list("VENDOR_IDENTITY", checkMemberPath);
  if (first === undefined) {
    if (endpoint !== undefined && splitList(read.value("VENDOR_IDENTITY")).length === 0)
      read.refuse("VENDOR_ACCOUNT_URL", "is set without VENDOR_IDENTITY");
    return vendor;
  }
  const account = endpoint === undefined ? vendor.account : ({ endpoint, method: "GET" } as const);
  if (account === undefined) {
    read.refuse("VENDOR_IDENTITY", "is set without VENDOR_ACCOUNT_URL, and VENDOR has no account of its own");
    return vendor;
  }
  if (identifiesByItself(vendor)) {
    read.refuse(
      "VENDOR_IDENTITY",
      "is set, and VENDOR identifies its users by itself: unset it and VENDOR_ACCOUNT_URL",
    );
    return vendor;
  }
  const { identity: _tokens, identifies: _of, userinfoEndpoint: _other, ...rest } = vendor;
  return { ...rest, account: { ...account, identity: [first, ...others] } };
}

/** Without its ID tokens, which it issues only if `openid` is requested. */
function identifiesByItself(vendor: Vendor): boolean {
  const { authorizationEndpoint = "", tokenEndpoint = "" } = vendor;
  const resolved: ResolvedVendor = { ...vendor, authorizationEndpoint, tokenEndpoint, issExpected: false };
  return canIdentify({ ...resolved, issuesIdTokens: false }, "user");
}

/** The variable that says where else the tokens may go. */
function variableOf(name: TokenRecipient): string | undefined {
  const { insteadOf, variable } = fieldOf(name);
  return insteadOf === undefined ? variable?.name : FIELDS[insteadOf].variable.name;
}

function warnOfDropped(read: Reader, dropped: readonly TokenRecipient[]): void {
  if (dropped.length === 0) return;
  const names = new Set(dropped.map(variableOf));
  read.warn(
    `VENDOR_TOKEN_URL is at another domain than the registry's, which gets none of these tokens: set what you need of ${[...names].join(", ")}`,
  );
}

interface Filling {
  readonly read: Reader;
  readonly entry: RegistryEntry | undefined;
  readonly given: GivenUrls;
  readonly rules: CommonSettings["egress"];
}

function fill(vendor: Vendor, { read, entry, given }: Filling): Vendor | undefined {
  const json = read.value("VENDOR_PLACEHOLDERS");
  try {
    const written = json === undefined ? {} : parseStringMap(json, "the value");
    // An empty value counts as absent.
    const values = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== ""));
    const specs = specsOf(vendor, entry, given);
    const templates = templatesOf(vendor, specs);
    requireKnownPlaceholders(values, templates, specs);
    const all = withDefaults(values, specs);
    requireFit(all, templates, specs);
    return expandVendor(vendor, all, specs);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    read.refuse("VENDOR_PLACEHOLDERS", `does not fit the vendor's URLs: ${error.description}`);
    return undefined;
  }
}

/**
 * The registry's placeholders, and a plain one for each name in the operator's own URLs that has no
 * other meaning there.
 */
function specsOf(vendor: Vendor, entry: RegistryEntry | undefined, given: GivenUrls): PlaceholderSpecs {
  const meant = filledLater(vendor);
  const names = Object.values(given).flatMap((url) => placeholderNames(url));
  const own = names.filter((name) => entry === undefined || !meant.includes(name)).map((name) => [name, {}] as const);
  return { ...Object.fromEntries(own), ...entry?.placeholders };
}

/** Names in the braces of an entry's URLs that no placeholder fills: each request or token does. */
function filledLater({ issuerTemplate }: Vendor): readonly string[] {
  return ["client_id", "access_token", ...(issuerTemplate === undefined ? [] : [issuerTemplate.placeholder])];
}

/**
 * A URL with {placeholders} is checked once they are filled; until then it only has to be a URL.
 */
function checkWritten(read: Reader, name: VariableName, url: string | undefined, rules: CommonSettings["egress"]) {
  if (url?.includes("{") !== true) return url === undefined || checkUrl(read, name, url, rules);
  const isUrl = URL.canParse(url.replace(/[{}]/g, ""));
  if (!isUrl) read.refuse(name, "must be an absolute https URL, {placeholders} included");
  return isUrl;
}

/**
 * Checks the text of a URL that will be requested: the address behind its name is checked at
 * connection time.
 */
//= bar#EG-7
function checkUrl(read: Reader, name: VariableName, url: string, rules: CommonSettings["egress"]): boolean {
  const problem = checkEgressUrl(url, { ...rules, anyPort: true }) ?? checkNotOwn(url, read);
  if (problem !== undefined) read.refuse(name, problem);
  return problem === undefined;
}

/** A server that is its own vendor would redirect browsers to itself. Only hosted mode makes it an issuer. */
function checkNotOwn(url: string, read: Reader): string | undefined {
  const { origin, pathname } = new URL(url);
  const isOwn = read.value("OAUTH_MODE") === "hosted" && origin === read.value("DEPLOYMENT_URL");
  if (!isOwn || !["/", ...Object.values<string>(PATHS)].includes(pathname)) return undefined;
  return "is of this server itself, DEPLOYMENT_URL: give the vendor's";
}

/** Checks the URLs in which a value has chosen a host. A name still in braces is filled later. */
function checkFilled(vendor: Vendor, { read, entry, given, rules }: Filling): boolean {
  const results = URL_VARIABLES.map((name) => {
    if (name === "VENDOR_ACCOUNT_URL" && given[name] === undefined) return true;
    const template = given[name] ?? (entry === undefined ? undefined : urlOf(entry.vendor, name));
    const url = urlOf(vendor, name);
    if (url === undefined || template?.includes("{") !== true) return true;
    const asked = filledLater(vendor).reduce((text, later) => text.replaceAll(`{${later}}`, "x"), url);
    return checkUrl(read, given[name] === undefined ? "VENDOR_PLACEHOLDERS" : name, asked, rules);
  });
  return results.every(Boolean);
}

function urlOf(vendor: Vendor, name: UrlVariable): string | undefined {
  const field = FIELD_OF.get(name);
  return addressOf(vendor, field === undefined ? "account" : (ownKindOf(vendor, field) ?? field));
}
