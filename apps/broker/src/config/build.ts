/**
 * Builds `Config` from the parsed sections: makes paths absolute, reads files, collects warnings.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defined } from "@oauth-broker/oauth-core";
import { certificatesIn } from "@oauth-broker/oauth-core/egress";
import type { Environment, TracingSettings } from "@oauth-broker/service/configuration";
import { buildClient, buildOwner, clientWarnings } from "./clients/clients.ts";
import { faultOfFile, type Problem, type Say } from "./problems.ts";
import type { ParsedConfiguration } from "./schema/configuration.ts";
import { indexRegistrations } from "../vendor-choice/registrations.ts";
import type { Source } from "./source.ts";
import type { AuditConfig, Config, KeysConfig, StoreConfig, VendorConfig, VendorTemplate } from "../config-types.ts";
import type { UrlRules } from "./schema/endpoint.ts";
import { vendorSchema } from "./schema/vendor.ts";
import { environmentWarnings, isInEnvironment } from "./vendors/credentials.ts";
import { aliasesOf, idNamed } from "../vendor-choice/names.ts";
import { aliasTarget, buildVendor, type VendorRegistry } from "./vendors/vendors.ts";
import { deploymentWarnings, mixUpWarnings, sharingWarnings, sunsetWarnings } from "./warnings.ts";

export type BuiltVendors = ReturnType<typeof buildVendors>;

/** Entries that neither the file nor a variable changes are made once: most are, in every configuration of a process. */
const UNCHANGED = new WeakMap<VendorTemplate, VendorConfig>();

/**
 * All vendors of the registry and the file. Each is parsed on its own, so that one broken entry
 * does not hide the problems of the others.
 */
export function buildVendors(
  section: unknown,
  { env, registry, rules }: { env: Environment; registry: VendorRegistry; rules: UrlRules },
) {
  const written: [string, unknown][] = typeof section === "object" && section !== null ? Object.entries(section) : [];
  const entries = new Map(written.map(([id, entry]) => [aliasTarget(id, entry, registry) ?? id, entry]));
  const ids = [...new Set([...registry.keys(), ...entries.keys()])];
  const vendors = new Map<string, VendorConfig>();
  const problems: Problem[] = [];
  const warnings = environmentWarnings(env, ids, (name) => registry.get(name)?.vendor.id);
  const schema = vendorSchema(rules);
  const unwritten = schema.safeParse({});
  const own = new Set<string>();
  for (const id of ids) {
    const { success, data } = entries.has(id) ? schema.safeParse(entries.get(id) ?? {}) : unwritten;
    if (!success) continue;
    const found = registry.get(id);
    // the operator's own vendor may have an id that is an alias in the registry.
    const known = found?.vendor.id === id ? found : undefined;
    const isUnchanged = known !== undefined && !entries.has(id) && !isInEnvironment(id, env);
    const made = isUnchanged ? UNCHANGED.get(known) : undefined;
    const vendor = made ?? buildVendor(id, data, known, { env, problems, warnings });
    if (isUnchanged) UNCHANGED.set(known, vendor);
    vendors.set(id, vendor);
    const isWritten = (data.issuer ?? data.authorizationEndpoint ?? data.tokenEndpoint) !== undefined;
    if (isWritten || known === undefined) own.add(id);
  }
  return {
    /** Every vendor in the result, including those whose entries have problems. */
    ids,
    vendors,
    problems,
    warnings: [...warnings, ...mixUpWarnings(vendors, own), ...sunsetWarnings(vendors)],
  };
}

/** Every name that finds a vendor: ids and aliases. */
export function namesOf({ ids, vendors }: Pick<BuiltVendors, "ids" | "vendors">): Set<string> {
  return new Set([...ids, ...aliasesOf(vendors).keys()]);
}

interface BuildParts {
  readonly source: Source;
  readonly vendors: BuiltVendors;
  readonly caPem: string | undefined;
  readonly tracing: TracingSettings | undefined;
  readonly operatorUrls: readonly string[];
  readonly proxyWarnings: readonly string[];
}

export function buildConfig(
  parsed: ParsedConfiguration,
  { source, vendors, caPem, tracing, operatorUrls, proxyWarnings }: BuildParts,
): Config {
  const idOf = (name: string): string => idNamed(name, vendors.vendors);
  const owners = parsed.owners.map((owner) => buildOwner(owner, idOf));
  const clients = parsed.clients.map((client) => buildClient(client, owners, idOf));
  const store = absolute(parsed.store, source);
  const keys = absolute(parsed.keys, source);
  const audit = absolute(parsed.audit, source);
  const { allowLoopback, allowCidrs, timeoutMs, proxy } = parsed.egress;
  return {
    ...defined({ file: source.file, cell: parsed.cell, keysMinRevision: parsed.keysMinRevision, tracing }),
    sandbox: source.sandbox,
    baseUrl: parsed.baseUrl,
    listen: { ...parsed.listen, host: parsed.listen.host.replace(/^\[(.*)\]$/, "$1") },
    store,
    keys,
    audit,
    owners,
    clients,
    vendors: vendors.vendors,
    limits: parsed.limits,
    egress: { allowLoopback, allowCidrs, operatorUrls, timeoutMs, ...defined({ caPem, proxy }) },
    warnings: [
      ...ignoredWarnings(source),
      ...proxyWarnings,
      ...clientWarnings(parsed.clients, parsed.owners, namesOf(vendors)),
      ...vendors.warnings,
      ...sharingWarnings(vendors.vendors, clients, indexRegistrations(clients, vendors.vendors)),
      ...(source.sandbox ? [] : deploymentWarnings(parsed, { store, keys, audit })),
    ],
  };
}

function ignoredWarnings({ ignored }: Source): string[] {
  if (ignored.length === 0) return [];
  return [`This is the sandbox, which does not read ${ignored.join(", ")}. \`npm run broker\` serves a configuration.`];
}

/** The path of a file is written relative to the configuration file. */
function absolute<Place extends StoreConfig | KeysConfig | AuditConfig>(place: Place, { directory }: Source): Place {
  return "path" in place ? { ...place, path: resolve(directory, place.path) } : place;
}

/** @param file `egress.ca_file` as written */
export function readCertificates(file: unknown, { directory }: Source, say: Say): string | undefined {
  if (typeof file !== "string" || file === "") return undefined;
  let fault: string;
  try {
    const pem = readFileSync(resolve(directory, file), "utf8");
    if (certificatesIn(pem).length > 0) return pem;
    fault = "names a file without a PEM certificate";
  } catch (error) {
    fault = `names a file that ${faultOfFile(error, "used")}`;
  }
  const expected = "the path of a PEM file, relative to the configuration file";
  say("egress.ca_file", fault, expected, "/etc/broker/internal-ca.pem");
  return undefined;
}
