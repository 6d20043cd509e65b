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
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { problemOfThrown } from "@oauth-broker/oauth-core/configuration";
import type { ParsedVendor } from "../schema/vendor.ts";

const ENDPOINTS = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "refresh_endpoint",
  "revocation_endpoint",
  "jwks_uri",
  "userinfo_endpoint",
] as const;

interface PlaceholderProblem {
  /** A path below the vendor. */
  readonly field: readonly string[];
  readonly problem: string;
  readonly expected: string;
}

export function placeholderSpecs({ placeholders = {} }: ParsedVendor): PlaceholderSpecs {
  return Object.fromEntries(
    Object.entries(placeholders).map(([name, { pattern, values, default: standard, kind }]) => [
      name,
      defined({ pattern, values, default: standard, kind }) satisfies PlaceholderSpec,
    ]),
  );
}

/** @param specs those of the registry and of the operator */
export function placeholderProblems(
  parsed: ParsedVendor,
  specs: PlaceholderSpecs,
  vendor: Vendor,
): PlaceholderProblem[] {
  const undeclared = ENDPOINTS.flatMap((field): PlaceholderProblem[] => {
    const template = parsed[field] ?? "";
    const name = placeholderNames(withoutDialect(field, template, vendor)).find((one) => !Object.hasOwn(specs, one));
    if (name === undefined) return [];
    const problem = `uses {${name}}, which is not declared under placeholders`;
    return [{ field: [field], problem, expected: "an entry under placeholders for each {name} in it" }];
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
 * Leaves out the placeholders that the vendor's dialect fills itself: the client id in its path,
 * the tenant of a token.
 */
function withoutDialect(field: (typeof ENDPOINTS)[number], template: string, { issuerTemplate }: Vendor): string {
  if (field === "revocation_endpoint") return template.replace(/(?<=\/)\{client_id\}(?=\/|$)/, "");
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
