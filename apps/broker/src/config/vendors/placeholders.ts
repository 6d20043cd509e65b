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
import type { ParsedVendor } from "../schema/vendor.ts";
import { FILE_FIELDS, type FileField, writtenFields } from "../schema/vendor-fields.ts";

/** The fields that are an address with placeholders, or have one. */
const ADDRESSES = FILE_FIELDS.filter((name) => fieldOf(name).is === "url" || fieldOf(name).is === "object");

interface PlaceholderProblem {
  /** A path below the vendor. */
  readonly field: readonly string[];
  readonly problem: string;
  readonly expected: string;
}

function placeholderSpecs({ placeholders = {} }: ParsedVendor): PlaceholderSpecs {
  return Object.fromEntries(
    Object.entries(placeholders).map(([name, { pattern, values, default: standard, kind, suffix }]) => [
      name,
      defined({ pattern, values, default: standard, kind, suffix }) satisfies PlaceholderSpec,
    ]),
  );
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
export function isMoved({ authorization_endpoint: authorization, token_endpoint: token }: ParsedVendor): boolean {
  return authorization !== undefined && token !== undefined;
}

/** The operator's values that leave what the registry pins. */
export function pinProblems(parsed: ParsedVendor, known: PlaceholderSpecs = {}): PlaceholderProblem[] {
  if (isMoved(parsed)) return [];
  return Object.entries(placeholderSpecs(parsed)).flatMap(([name, { values = [], default: usual }]) => {
    const { [name]: pinned } = known;
    const given = usual === undefined ? values : [...values, usual];
    const leaves =
      pinned?.follows !== undefined ||
      given.some((value) => pinned?.values?.includes(value) === false) ||
      (pinned?.suffix !== undefined && pinned.kind === "host" && given.some((value) => !endsIn(value, pinned)));
    if (!leaves) return [];
    const problem = "contradicts the registry, which pins the hosts of this vendor";
    const expected = "values that the registry's entry allows, or an authorization_endpoint and a token_endpoint";
    return [{ field: ["placeholders", name], problem, expected }];
  });
}

function endsIn(value: string, { suffix = [] }: PlaceholderSpec): boolean {
  return suffix.some((end) => value.endsWith(end));
}

/** @param specs those of the registry and of the operator */
export function placeholderProblems(
  parsed: ParsedVendor,
  specs: PlaceholderSpecs,
  vendor: Vendor,
): PlaceholderProblem[] {
  const written = writtenFields(parsed);
  const undeclared = ADDRESSES.flatMap((field): PlaceholderProblem[] => {
    const template = addressOf(written, field) ?? "";
    const name = placeholderNames(withoutDialect(field, template, vendor)).find((one) => !Object.hasOwn(specs, one));
    if (name === undefined) return [];
    const problem = `uses {${name}}, which is not declared under placeholders`;
    const path = typeof written[field] === "object" ? [wireName(field), "endpoint"] : [wireName(field)];
    return [{ field: path, problem, expected: "an entry under placeholders for each {name} in it" }];
  });
  const misfits = Object.entries(placeholderSpecs(parsed)).flatMap(([name, spec]): PlaceholderProblem[] => {
    const fits = (value: string): boolean =>
      problemOfThrown(() => void expandTemplate(`https://x.example/?x={${name}}`, { [name]: value }, specs)) ===
      undefined;
    if ([...(spec.values ?? []), ...(spec.default === undefined ? [] : [spec.default])].every(fits)) return [];
    const problem = "has a default or a value that does not fit its own pattern, values and kind";
    return [
      {
        field: ["placeholders", name],
        problem,
        expected: "values that match pattern and kind, and a default among them",
      },
    ];
  });
  return [...undeclared, ...misfits];
}

/**
 * Leaves out the placeholders that the vendor's dialect fills itself: the client id or the token in
 * its path, the tenant of a token.
 */
function withoutDialect(field: FileField, template: string, { account, issuerTemplate }: Vendor): string {
  if (field === "account" && account?.token?.in === "path") return template.replace("{access_token}", "");
  if (field === "revocationEndpoint") return template.replace(/(?<=\/)\{client_id\}(?=\/|$)/, "");
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
