/**
 * Loads the configuration in these steps: source, references, variables, schema, checks between
 * fields, values. Each step adds its problems; all are reported together.
 */
import { defined } from "@oauth-broker/oauth-core";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import {
  checkCidr,
  createEnvironmentReader,
  type Environment,
  ignoredProxyWarnings,
  readTracing,
  shapeOfTracing,
  valueOf,
} from "@oauth-broker/service/configuration";
import { checkAuditFile } from "./audit.ts";
import { checkClients } from "./clients/clients.ts";
import { buildConfig, buildVendors, namesOf, readCertificates } from "./build.ts";
import { describeConfiguration } from "./schema/describe.ts";
import { problemsOfIssues, valueAt } from "./schema/issues.ts";
import { checkKeysetPlace } from "./store-and-keys.ts";
import { configError, formatPath, type Problem, type Say, sayIn } from "./problems.ts";
import { resolveReferences } from "./references.ts";
import { configurationSchema, DEFAULT_HOST, DEFAULT_PORT } from "./schema/configuration.ts";
import { OVERRIDES, readSource, type SandboxUse, type Source, type Tree } from "./source.ts";
import type { Config } from "../config-types.ts";
import type { UrlRules } from "./schema/endpoint.ts";
import { CUSTOM_VENDOR } from "../vendor-choice/request.ts";
import { checkVendors, type VendorRegistry } from "./vendors/vendors.ts";

/**
 * @param env `readEnvironment()`, or any other in tests
 * @param cwd the start directory, absolute
 * @param deps.registry the built-in vendors: `REGISTRY`, or others in tests
 * @param deps.sandbox default `default`: it runs without a configuration
 * @throws ConfigError listing every problem
 */
export function loadConfig(
  env: Environment,
  cwd: string,
  { registry = REGISTRY, sandbox = "default" }: { registry?: VendorRegistry; sandbox?: SandboxUse } = {},
): Config {
  const problems: Problem[] = [];
  const source = readSource(env, cwd, sandbox, sayIn(problems));
  const { directory } = source;
  const tree = withVariables(resolveReferences(source.tree, sayIn(problems), { env, directory }), source, env);
  const rules = urlRules(tree);
  const { success, data, error } = configurationSchema(rules).safeParse(tree);
  const vendors = buildVendors(tree["vendors"], { env, registry, rules });

  const found = success ? [] : problemsOfIssues(error.issues, tree, describeConfiguration());
  const say = sayIn(found);
  checkPresence(tree, source, say);
  checkKeysetPlace(tree, source, say);
  checkAuditFile(tree, source, say);
  checkClients(tree, new Set([...namesOf(vendors), CUSTOM_VENDOR]), say);
  checkVendors(tree, registry, say);
  found.push(...vendors.problems);
  // Reports one mistake once: a reference that cannot be read does not also count as missing.
  const reported = new Set(problems.map(({ path }) => path));
  problems.push(...found.filter(({ path }) => !reported.has(path)).map((problem) => namedByVariable(problem, env)));

  const read = createEnvironmentReader(env, shapeOfTracing);
  const tracing = readTracing(read);
  problems.push(...read.problems);
  const caPem = readCertificates(valueAt(tree, ["egress", "ca_file"]), source, sayIn(problems));

  if (!success || problems.length > 0) throw configError(source.file ?? "the environment", problems);
  const proxyWarnings = data.egress.proxy === undefined ? ignoredProxyWarnings(env, "egress.proxy") : [];
  return buildConfig(data, { source, vendors, caPem, tracing, operatorUrls: urlsOf(tree), proxyWarnings });
}

/** The URLs of the vendors and clients in the file, as written. */
function urlsOf({ vendors, clients }: Tree): string[] {
  const sections: unknown[] = [vendors, clients].flatMap((part) => Object.values(part ?? {}));
  return sections
    .flatMap((section): unknown[] => Object.values(section ?? {}))
    .map((value) => (typeof value === "object" && value !== null && "endpoint" in value ? value.endpoint : value))
    .filter((value) => typeof value === "string")
    .filter((value) => value.startsWith("https://"));
}

/**
 * Puts BASE_URL, STORE, HOST and PORT over the values of the file. Without a file the sandbox's own
 * values are below them.
 */
function withVariables(tree: Tree, { sandbox, ignored }: Source, env: Environment): Tree {
  const { BASE_URL, STORE, HOST, PORT } = Object.fromEntries(
    Object.keys(OVERRIDES).map((name) => [name, ignored.includes(name) ? undefined : valueOf(env, name)]),
  );
  const listen = tree["listen"] ?? {};
  const overridden = {
    ...tree,
    ...defined({ base_url: BASE_URL, store: STORE }),
    ...(HOST === undefined && PORT === undefined
      ? {}
      : { listen: { ...listen, ...defined({ host: HOST, port: PORT }) } }),
  };
  if (!sandbox) return overridden;
  const url = sandboxUrl(HOST, PORT);
  return { ...overridden, base_url: url, store: sandboxStore(url), egress: { allow_loopback: true } };
}

/**
 * One for each address, because a keyset belongs to one base_url: who finds the port taken starts the
 * sandbox at another.
 */
function sandboxStore(baseUrl: string): string {
  return `sqlite:./data/sandbox/broker-${new URL(baseUrl).host.replaceAll(/[^\w.]/g, "-")}.sqlite`;
}

function sandboxUrl(host = DEFAULT_HOST, port = String(DEFAULT_PORT)): string {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return URL.parse(`http://${name}:${port}`)?.origin ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`;
}

/**
 * The schema needs these settings, so they are read before it runs. If they are wrong
 * themselves, no URL is reported because of them.
 */
function urlRules(tree: Tree): UrlRules {
  const loopback = valueAt(tree, ["egress", "allow_loopback"]) ?? false;
  const cidrs: unknown = valueAt(tree, ["egress", "allow_cidrs"]);
  const networks: unknown[] = Array.isArray(cidrs) ? cidrs : [];
  return {
    allowLoopback: loopback !== false && loopback !== "false",
    allowCidrs: networks.filter((cidr) => typeof cidr === "string").filter((cidr) => checkCidr(cidr) === undefined),
  };
}

function checkPresence(tree: Tree, { sandbox }: Source, say: Say): void {
  const { clients } = tree;
  if (sandbox) {
    if (Number(valueAt(tree, ["listen", "port"]) ?? DEFAULT_PORT) !== 0) return;
    say("PORT", "cannot be 0 in the sandbox: its base_url names the port", "a port, 1 to 65535", "8787");
  } else if (clients === undefined || (Array.isArray(clients) && clients.length === 0)) {
    const example =
      "[ { client_id: platform, client_secret: env:PLATFORM_SECRET, redirect_uris: [https://acme.platform.example/oauth/vendor-callback] } ]";
    const problem = "is missing: without a client the broker serves no one";
    say("clients", problem, "a list with at least one entry", example);
  }
}

/** Reports a field that a variable filled under the variable's name. */
function namedByVariable(problem: Problem, env: Environment): Problem {
  const name = Object.entries(OVERRIDES).find(
    ([name, path]) => formatPath(path) === problem.path && valueOf(env, name) !== undefined,
  )?.[0];
  return name === undefined ? problem : { ...problem, path: name };
}
