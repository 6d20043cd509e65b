/**
 * The {placeholders} of an operator's vendor: their specifications, and the problems between them
 * and the endpoints. Called by vendors.ts.
 */
import { defined } from "@oauth-broker/oauth-core";
import {
  expandTemplate,
  fillsRegistrableDomain,
  placeholderNames,
  type PlaceholderSpec,
  type PlaceholderSpecs,
} from "@oauth-broker/oauth-core/protocol";
import { addressOf, fieldOf, type Vendor, wireName } from "@oauth-broker/oauth-core/registry";
import { problemOfThrown } from "@oauth-broker/service/configuration";
import type { Say } from "../problems.ts";
import type { ParsedVendor } from "../schema/vendor.ts";
import type { ParsedPlaceholder } from "../schema/vendor-parts.ts";
import { FILE_FIELDS, type FileField, writtenFields } from "../schema/vendor-fields.ts";

/** The fields that are an address with placeholders, or have one. */
const ADDRESSES = FILE_FIELDS.filter((name) => fieldOf(name).is === "url" || fieldOf(name).is === "object");

function placeholderSpecs({ placeholders = {} }: ParsedVendor): PlaceholderSpecs {
  return Object.fromEntries(Object.entries(placeholders).map(([name, spec]) => [name, defined(spec)]));
}

/** The values that an operator names, the default among them. */
export function namedValues({ values = [], default: usual }: ParsedPlaceholder): readonly string[] {
  return usual === undefined ? values : [...values, usual];
}

/**
 * The operator's specifications over the registry's. What the registry pins of a host (`suffix`,
 * `values`) stays pinned as long as one of its endpoints is in use.
 */
export function withRegistry(parsed: ParsedVendor, known: PlaceholderSpecs = {}): PlaceholderSpecs {
  const own = placeholderSpecs(parsed);
  if (isMoved(parsed)) return { ...known, ...own };
  const pinned = Object.entries(own).map(([name, spec]) => {
    const { suffix, values, follows, kind } = known[name] ?? {};
    const pins = defined({ suffix, follows, kind: suffix === undefined ? undefined : kind });
    return [name, { ...defined({ values }), ...spec, ...pins }] as const;
  });
  return { ...known, ...Object.fromEntries(pinned) };
}

/** Both endpoints are the operator's: what the registry says of its hosts holds no more. */
export function isMoved({ authorizationEndpoint, tokenEndpoint }: ParsedVendor): boolean {
  return authorizationEndpoint !== undefined && tokenEndpoint !== undefined;
}

/**
 * Finds the operator's values that leave what the registry pins.
 * @param say takes a path below the vendor
 */
export function checkPins(parsed: ParsedVendor, known: PlaceholderSpecs = {}, say: Say): void {
  if (isMoved(parsed)) return;
  for (const [name, spec] of Object.entries(parsed.placeholders ?? {})) {
    const { [name]: pinned } = known;
    const given = namedValues(spec);
    const leaves =
      pinned?.follows !== undefined ||
      given.some((value) => pinned?.values?.includes(value) === false) ||
      (pinned?.suffix !== undefined && pinned.kind === "host" && given.some((value) => !endsIn(value, pinned)));
    if (!leaves) continue;
    const expected = "values that the registry's entry allows, or an authorization_endpoint and a token_endpoint";
    say(["placeholders", name], "contradicts the registry, which pins the hosts of this vendor", expected);
  }
}

function endsIn(value: string, { suffix = [] }: PlaceholderSpec): boolean {
  return suffix.some((end) => value.endsWith(end));
}

/**
 * @param specs those of the registry and of the operator
 * @param say as in checkPins
 */
export function checkPlaceholders(parsed: ParsedVendor, specs: PlaceholderSpecs, vendor: Vendor, say: Say): void {
  const written = writtenFields(parsed);
  for (const field of ADDRESSES) {
    const template = addressOf(written, field) ?? "";
    const name = placeholderNames(withoutDialect(field, template, vendor)).find((one) => !Object.hasOwn(specs, one));
    if (name === undefined) continue;
    const path = typeof written[field] === "object" ? [wireName(field), "endpoint"] : [wireName(field)];
    const problem = `uses {${name}}, which is not declared under placeholders`;
    say(path, problem, "an entry under placeholders for each {name} in it");
  }
  for (const [name, spec] of Object.entries(parsed.placeholders ?? {})) {
    const fits = (value: string): boolean =>
      problemOfThrown(() => void expandTemplate(`https://x.example/?x={${name}}`, { [name]: value }, specs)) ===
      undefined;
    if (namedValues(spec).every(fits)) continue;
    const problem = "has a default or a value that does not fit its own pattern, values and kind";
    say(["placeholders", name], problem, "values that match pattern and kind, and a default among them");
  }
}

/**
 * Leaves out the placeholders that the vendor's dialect fills itself: the client id or the token in
 * its path, the tenant of a token.
 */
function withoutDialect(field: FileField, template: string, { account, tokenCheck, issuerTemplate }: Vendor): string {
  const isAccount = field === "account" || field === "userinfoEndpoint";
  if (isAccount && account?.token?.in === "path") return template.replace("{access_token}", "");
  if (field === "revocationEndpoint" || (field === "introspectionEndpoint" && tokenCheck !== undefined))
    return template.replace(/(?<=\/)\{client_id\}(?=\/|$)/, "");
  if (field === "issuer" && issuerTemplate !== undefined)
    return template.replace(`{${issuerTemplate.placeholder}}`, "");
  return template;
}

/** Whether a value of a request can choose the host that answers: such a vendor is tier 3. */
export function choosesDomain(vendor: Vendor, specs: PlaceholderSpecs): boolean {
  return [vendor.authorizationEndpoint, vendor.tokenEndpoint].some(
    (template) => template !== undefined && fillsRegistrableDomain(template, specs),
  );
}
