/** From parsed sections to `Config`: paths made absolute, files read, and what deserves a warning. */
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isLoopbackName } from "@oauth-broker/oauth-core/service";
import { buildClient, buildOwner, clientWarnings } from "./clients/clients.ts";
import { mixUpWarnings } from "./vendors/mix-up.ts";
import { present } from "./present.ts";
import type { Problem } from "./problems.ts";
import type { ParsedConfiguration } from "./schema/configuration.ts";
import { indexRegistrations, sharingWarnings } from "./vendors/registrations.ts";
import type { Environment, Source } from "./source.ts";
import type { Config, KeysConfig, StoreConfig, VendorConfig } from "./types.ts";
import type { UrlRules } from "./schema/endpoint.ts";
import { vendorSchema } from "./schema/vendor.ts";
import { environmentWarnings } from "./vendors/credentials.ts";
import { buildVendor, type VendorRegistry } from "./vendors/vendors.ts";

export interface BuiltVendors {
  /** Every vendor there will be, also those whose entry has problems. */
  readonly ids: readonly string[];
  readonly vendors: ReadonlyMap<string, VendorConfig>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** All vendors of registry and file. Each is parsed on its own, so that one broken entry hides nothing about the others. */
export function buildVendors(
  section: unknown,
  { env, registry, rules }: { env: Environment; registry: VendorRegistry; rules: UrlRules },
): BuiltVendors {
  const entries = new Map<string, unknown>(
    typeof section === "object" && section !== null ? Object.entries(section) : [],
  );
  const ids = [...new Set([...registry.keys(), ...entries.keys()])];
  const vendors = new Map<string, VendorConfig>();
  const problems: Problem[] = [];
  const warnings = environmentWarnings(env, ids);
  const schema = vendorSchema(rules);
  const own = new Set<string>();
  for (const id of ids) {
    const { success, data } = schema.safeParse(entries.get(id) ?? {});
    if (!success) continue;
    vendors.set(id, buildVendor(id, data, registry.get(id), { env, problems, warnings }));
    const isWritten = (data.issuer ?? data.authorization_endpoint ?? data.token_endpoint) !== undefined;
    if (isWritten || !registry.has(id)) own.add(id);
  }
  return { ids, vendors, problems, warnings: [...warnings, ...mixUpWarnings(vendors, own)] };
}

export function buildConfig(
  parsed: ParsedConfiguration,
  { source, vendors, caPem }: { source: Source; vendors: BuiltVendors; caPem: string | undefined },
): Config {
  const owners = parsed.owners.map(buildOwner);
  const clients = parsed.clients.map((client) => buildClient(client, owners));
  const store = absoluteStore(parsed.store, source);
  const keys = absoluteKeys(parsed.keys, source);
  const { allow_loopback: allowLoopback, allow_cidrs: allowCidrs, timeout_ms: timeoutMs } = parsed.egress;
  return {
    ...present({ file: source.file, cell: parsed.cell, keysMinRevision: parsed.keys_min_revision }),
    sandbox: source.sandbox,
    baseUrl: parsed.base_url,
    listen: {
      host: parsed.listen.host.replace(/^\[(.*)\]$/, "$1"),
      port: parsed.listen.port,
      maxConnections: parsed.listen.max_connections,
    },
    store,
    keys,
    owners,
    clients,
    vendors: vendors.vendors,
    limits: {
      parPerMinute: parsed.limits.par_per_minute,
      explainPerMinute: parsed.limits.explain_per_minute,
      vendorCallsPerMinute: parsed.limits.vendor_calls_per_minute,
      bodyBytes: parsed.limits.body_bytes,
    },
    egress: { allowLoopback, allowCidrs, timeoutMs, ...present({ caPem }) },
    warnings: [
      ...clientWarnings(parsed.clients, parsed.owners, new Set(vendors.ids)),
      ...vendors.warnings,
      ...sharingWarnings(vendors.vendors, indexRegistrations(clients, vendors.vendors)),
      ...(source.sandbox ? [] : deploymentWarnings(parsed, { store, keys })),
    ],
  };
}

function absoluteStore(store: StoreConfig, { directory }: Source): StoreConfig {
  return store.kind === "sqlite" ? { kind: "sqlite", path: resolve(directory, store.path) } : store;
}

function absoluteKeys(keys: KeysConfig, { directory }: Source): KeysConfig {
  return keys.kind === "file" ? { kind: "file", path: resolve(directory, keys.path) } : keys;
}

function deploymentWarnings(
  parsed: ParsedConfiguration,
  { store, keys }: { store: StoreConfig; keys: KeysConfig },
): string[] {
  const warnings: string[] = [];
  if (parsed.egress.allow_loopback && !isLoopbackName(new URL(parsed.base_url).hostname)) {
    warnings.push(
      "egress.allow_loopback is on although base_url is public: requests may name endpoints on this machine",
    );
  }
  if (parsed.egress.allow_cidrs.some((cidr) => cidr.endsWith("/0"))) {
    warnings.push("egress.allow_cidrs holds a network of every address: name the private networks you mean");
  }
  if (parsed.store.kind === "memory") {
    warnings.push("store is memory: flows under way and the broker's keys are lost at every restart");
  }
  if (store.kind === "dynamodb" && store.endpoint?.startsWith("http:") === true) {
    warnings.push("store speaks http to a DynamoDB on this machine: that is for tests");
  }
  if (store.kind === "dynamodb" && keys.kind === "kms" && parsed.keys_min_revision === undefined) {
    warnings.push(
      "keys_min_revision is not set: after a restart an older keyset put back into the table is taken, which undoes a rotation. `main.js keys list` prints the line to set",
    );
  }
  const keyFile = keyFileOf(store, keys);
  if (keyFile !== undefined && isOpenToOthers(keyFile)) {
    warnings.push(`The keys in ${keyFile} can be read or changed by others on this machine: chmod 600`);
  }
  return warnings;
}

/** Where the file is that opens everything: keys of their own, or beside the store (app.ts). */
function keyFileOf(store: StoreConfig, keys: KeysConfig): string | undefined {
  if (keys.kind === "file") return keys.path;
  return store.kind === "sqlite" ? `${store.path}.key` : undefined;
}

/** One that does not exist yet will be made with mode 0600. */
function isOpenToOthers(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && process.platform !== "win32" && (stats.mode & 0o077) !== 0;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @param file `egress.ca_file` as written. @param problems is added to */
export function readCertificates(file: unknown, { directory }: Source, problems: Problem[]): string | undefined {
  if (typeof file !== "string" || file === "") return undefined;
  let fault: string;
  try {
    const pem = readFileSync(resolve(directory, file), "utf8");
    const certificates = Array.from(pem.match(CERTIFICATE) ?? [], (one) => new X509Certificate(one));
    if (certificates.length > 0) return pem;
    fault = "names a file without a PEM certificate";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    fault =
      code === "ENOENT" ? "names a file that does not exist" : `names a file that cannot be used (${code ?? "error"})`;
  }
  problems.push({
    path: "egress.ca_file",
    problem: fault,
    expected: "the path of a PEM file, relative to the configuration file",
    example: "/etc/broker/internal-ca.pem",
  });
  return undefined;
}
