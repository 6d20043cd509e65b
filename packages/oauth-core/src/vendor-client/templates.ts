/**
 * The {placeholders} of a vendor's entry: which of its URLs are templates, and the entry with all
 * of them filled. protocol/placeholders.ts decides what a value may be.
 */
import { defined } from "../mechanics/defined.ts";
import {
  expandTemplate,
  placeholderNames,
  type PlaceholderSpecs,
  requireTemplateLength,
} from "../protocol/placeholders.ts";
import { ADDRESS_FIELDS, addressOf, mayHaveOtherNames } from "../registry/fields.ts";
import type { Vendor } from "../registry/vendor.ts";
import { pinTenant } from "./issuer.ts";

type Values = Readonly<Record<string, string>>;

/**
 * The fields with an address that may be a template. Those that may contain names of another
 * meaning (`{tenantid}` of a token, `{client_id}`) are filled only when all their names are
 * placeholders, except that `{client_id}` stays beside them until the request is made.
 */
const TEMPLATES = ADDRESS_FIELDS.map((name) => [name, mayHaveOtherNames(name)] as const);

const CLIENT_ID = "{client_id}";
/** Stands for `{client_id}` while the rest is filled, so that no caller's value can fill it. */
const CLIENT_ID_MARK = "~client_id~";

/**
 * The URLs with placeholders that a caller may fill. Most vendors have none, and then the steps
 * below cost nothing.
 */
export function templatesOf(vendor: Vendor, specs: PlaceholderSpecs): string[] {
  return fillableOf(vendor, specs).map(([, template]) => template);
}

type Field = (typeof ADDRESS_FIELDS)[number];

function fillableOf(vendor: Vendor, specs: PlaceholderSpecs): (readonly [Field, string])[] {
  const fillable: (readonly [Field, string])[] = [];
  for (const [field, hasOtherNames] of TEMPLATES) {
    const written = addressOf(vendor, field);
    if (written?.includes("{") !== true) continue;
    if (!hasOtherNames) {
      fillable.push([field, written]);
      continue;
    }
    const template = Object.hasOwn(specs, "client_id") ? written : written.replace(CLIENT_ID, CLIENT_ID_MARK);
    if (template.includes("{") && isOfSpecs(template, specs)) fillable.push([field, template]);
  }
  return fillable;
}

function isOfSpecs(template: string, specs: PlaceholderSpecs): boolean {
  return placeholderNames(template).every((name) => Object.hasOwn(specs, name));
}

/**
 * Returns the same object when there is nothing to fill: caches are keyed by it.
 *
 * @throws OAuthError invalid_request naming the placeholder that is missing or does not fit
 */
export function expandVendor(entry: Vendor, values: Values, specs: PlaceholderSpecs): Vendor {
  const vendor = pinTenant(entry, values);
  const fillable = fillableOf(vendor, specs);
  const parameters = filledParameters(vendor, values, specs);
  if (fillable.length === 0 && parameters === undefined) return vendor;
  const filled: Partial<Record<Field, unknown>> = {};
  for (const [field, template] of fillable) {
    const url = expandTemplate(template, values, specs).replace(CLIENT_ID_MARK, CLIENT_ID);
    filled[field] = withAddress(vendor[field], url);
  }
  return { ...vendor, ...(filled as Partial<Vendor>), ...parameters };
}

function withAddress(value: Vendor[Field], url: string): Vendor[Field] {
  return typeof value === "object" ? { ...value, endpoint: url } : url;
}

/**
 * A value may have braces of another meaning (JSON): only names of the entry's placeholders are
 * replaced.
 *
 * @returns undefined when no fixed parameter has a placeholder
 */
function filledParameters(
  vendor: Vendor,
  values: Values,
  specs: PlaceholderSpecs,
): Pick<Vendor, "authorizationParams" | "redirectUriAlias"> | undefined {
  const { authorizationParams, redirectUriAlias: alias } = vendor;
  const entries = Object.entries(authorizationParams);
  const names = parameterPlaceholders(vendor, specs);
  if (names.length === 0) return undefined;
  const filled = new Map(
    names.map((name) => {
      const url = new URL(expandTemplate(`https://vendor.example/?value={${name}}`, values, specs));
      return [name, url.searchParams.get("value") ?? ""];
    }),
  );
  const fill = (text: string): string => fillText(text, filled);
  return {
    authorizationParams: Object.fromEntries(entries.map(([parameter, value]) => [parameter, fill(value)])),
    ...(alias === undefined ? {} : { redirectUriAlias: fill(alias) }),
  };
}

/**
 * Each name once: a value that contains another name stays as it is.
 *
 * @throws OAuthError invalid_request before the text becomes longer than a URL may be
 */
function fillText(text: string, values: ReadonlyMap<string, string>): string {
  let { length } = text;
  return text.replace(/\{([^{}]+)\}/g, (written, name: string) => {
    const value = values.get(name) ?? written;
    length += value.length - written.length;
    requireTemplateLength(length);
    return value;
  });
}

/** @returns the placeholders of an entry's fixed parameters */
function parameterPlaceholders(
  { authorizationParams, redirectUriAlias = "" }: Pick<Vendor, "authorizationParams" | "redirectUriAlias">,
  specs: PlaceholderSpecs,
): string[] {
  const texts = [...Object.values(authorizationParams), redirectUriAlias];
  return Object.keys(specs).filter((name) => texts.some((text) => text.includes(`{${name}}`)));
}

/**
 * `{client_id}` in the path of the authorization page, and in a header or the form of the account,
 * is our client id at the vendor, unless it is a placeholder of the entry's own. Returns the same
 * object when neither contains it.
 *
 * @throws OAuthError invalid_request for a client id that is not a path segment
 */
export function withClientId(vendor: Vendor, clientId: string, specs: PlaceholderSpecs): Vendor {
  if (Object.hasOwn(specs, "client_id")) return vendor;
  const { authorizationEndpoint } = vendor;
  const account = accountOfClient(vendor, clientId);
  const named = account === vendor.account ? vendor : { ...vendor, ...defined({ account }) };
  if (authorizationEndpoint?.includes(CLIENT_ID) !== true) return named;
  const filled = expandTemplate(`https://vendor.example/${CLIENT_ID}`, { client_id: clientId }, {});
  const segment = filled.slice(filled.lastIndexOf("/") + 1);
  return { ...named, authorizationEndpoint: authorizationEndpoint.replace(`/${CLIENT_ID}`, `/${segment}`) };
}

function accountOfClient({ account }: Vendor, clientId: string): Vendor["account"] {
  if (account === undefined) return account;
  const { form, headers } = account;
  const isNamed = [form, headers].some((values) => Object.values(values ?? {}).includes(CLIENT_ID));
  if (!isNamed) return account;
  const filled = (values: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined =>
    values && Object.fromEntries(Object.entries(values).map(([name, v]) => [name, v === CLIENT_ID ? clientId : v]));
  return { ...account, ...defined({ form: filled(form), headers: filled(headers) }) };
}

/** @returns the values given, and the default of each placeholder that has one and was not given */
export function withDefaults(given: Values, specs: PlaceholderSpecs): Record<string, string> {
  const defaults = Object.entries(specs).flatMap(([name, spec]) =>
    spec.default === undefined || spec.default === "" ? [] : [[name, spec.default] as const],
  );
  return { ...Object.fromEntries(defaults), ...given };
}

/**
 * Values that no endpoint uses (the server's URL may) must fit all the same: they are stored and
 * may be used later.
 */
export function requireFit(values: Values, templates: readonly string[], specs: PlaceholderSpecs): void {
  const used = new Set(templates.flatMap((template) => placeholderNames(template)));
  for (const name of Object.keys(values)) {
    if (!used.has(name)) expandTemplate(`https://vendor.example/{${name}}`, values, specs);
  }
}

/** @returns the names of the placeholders in the host of a URL template */
export function namesInHost(template: string): string[] {
  return placeholderNames(template.split("/", 3)[2] ?? "");
}
