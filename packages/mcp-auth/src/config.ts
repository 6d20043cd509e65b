/**
 * The settings of a server from its environment variables, read once at start. The only reader of
 * process.env; the rest is in config/, where variables.ts describes each variable.
 */
import {
  type Environment,
  ignoredProxyWarnings,
  type Problem,
  splitList,
  valueOf,
} from "@oauth-broker/service/configuration";
import { readEvents } from "@oauth-broker/service/events";
import { readCallback, readPlatformUrl } from "./config/callback.ts";
import { readDeployment } from "./config/deployment.ts";
import { readOperator } from "./config/operator.ts";
import { checkTokenStore, readAdoption } from "./config/token-store.ts";
import { unknownVariables, unusedVariables } from "./config/unused.ts";
import { createReader, errorOf, type PrefixedReader, readChoice } from "./config/reader.ts";
import { VARIABLES } from "./config/variables.ts";
import type { Variable } from "./config/variables/rows.ts";
import { checkPlatformCallback } from "./config/vendor.ts";
import { readVendors } from "./config/vendors.ts";
import { oneVendor, severalVendors } from "./hosted/link-policy/link-policy.ts";
import { toolProblems } from "./mcp/tools/tool-vendors.ts";
import type { Settings } from "./settings.ts";
import type { Tool } from "./tool.ts";

export { prefixOf } from "./config/reader.ts";
export type { Environment } from "@oauth-broker/service/configuration";
export type { Variable } from "./config/variables/rows.ts";

/**
 * Opens no store and sends nothing; reads the file of `SERVER_ICON`.
 *
 * @param tools of the server: if the environment is wrong, what is wrong with them is listed too
 * @throws ConfigError listing every problem
 */
export function loadSettings(environment: Environment = process.env, tools: readonly Tool[] = []): Settings {
  const read = createReader(environment);
  const mode = readChoice(read, "OAUTH_MODE");
  if (read.value("OAUTH_MODE") === undefined) read.refuse("OAUTH_MODE", "is missing");
  const deployment = readDeployment(read, mode);
  const { deploymentUrl, egress } = deployment;
  const operator = readOperator(read);
  const allowVendorWithoutPkce = read.flag("ALLOW_VENDOR_WITHOUT_PKCE");
  const vendors = readVendors(read, environment, { mode, egress, allowVendorWithoutPkce });
  if (mode !== "hosted") readPlatformUrl(read);
  const callback = mode === "hosted" ? readCallback(read, deployment) : undefined;
  if (callback?.kind === "platform" && vendors !== undefined) checkPlatformCallback(read, vendors.vendor);
  if (mode === "hosted") checkTokenStore(read, environment);
  const events = mode === "hosted" ? readEvents(read, egress) : undefined;
  const adoptUnsealedServerKey = mode === "hosted" && readAdoption(read);
  if (read.problems.length > 0 || mode === undefined || vendors === undefined)
    throw errorOf([...read.problems, ...problemsOfTools(read, tools), ...misspelt(read, environment)]);
  const { vendor, linking } = vendors;
  const uses = { mode, callback: callback?.kind, vendors: [...(linking?.vendors.keys() ?? [])] };
  const proxyWarnings = egress.proxy === undefined ? ignoredProxyWarnings(environment, "EGRESS_PROXY") : [];
  const warnings = [...read.warnings, ...proxyWarnings, ...unusedVariables(environment, uses)];
  const urls = Object.keys(environment).filter((name) => OF_A_URL.test(name));
  const operatorUrls = urls.flatMap((name) => valueOf(environment, name) ?? []);
  const common = { ...deployment, operator, egress: { ...egress, operatorUrls }, vendor, warnings };
  if (mode === "pre-registered") return { ...common, mode };
  const { credentials } = vendor;
  if (deploymentUrl === undefined || credentials === undefined || callback === undefined) throw errorOf(read.problems);
  return {
    ...common,
    mode,
    deploymentUrl,
    vendor: { ...vendor, credentials },
    links: linking === undefined ? oneVendor({ ...vendor, credentials }) : severalVendors(linking),
    callback,
    allowVendorWithoutPkce,
    adoptUnsealedServerKey,
    events,
  };
}

/** `VENDOR_ISSUER`, `VENDOR_TOKEN_URL`, those of one vendor among several, and the receiver of events. */
const OF_A_URL = /^(?:EVENTS_URL|VENDOR_(?:\w+_)?(?:ISSUER|[A-Z]+_URL))$/;

/** The vendors that are listed are known, even if something else is wrong. */
function problemsOfTools(read: PrefixedReader, tools: readonly Tool[]): readonly Problem[] {
  const [first, ...others] = splitList(read.value("VENDORS"));
  if (first === undefined) return [];
  const scopes = new Map([first, ...others].map((id) => [id, undefined]));
  const signIn = read.value("SIGN_IN") ?? first;
  // A wrong value is its own problem, and none of the tools that name the sign-in vendor.
  return toolProblems(tools, { signIn: scopes.has(signIn) ? signIn : first, scopes });
}

/** A variable that is missing may be there under another name. Which are a vendor's, its list decides. */
function misspelt(read: PrefixedReader, environment: Environment): readonly Problem[] {
  const listed = new Set(read.problems.map(({ path }) => path));
  return unknownVariables(environment, splitList(read.value("VENDORS"))).filter(
    ({ path }) => !listed.has(path) && !(listed.has("VENDORS") && path.startsWith("VENDOR_")),
  );
}

/** Set by `npm run dev` for the server it starts, and by nothing else. */
export const UNDER_DEV = "MCP_DEV";

/** Whether errors of tools may be shown as they are: only `npm run dev` starts a server so. */
export function isUnderDev(environment: Environment = process.env): boolean {
  return environment[UNDER_DEV] === "true";
}

/** Every variable, for docs/configuration.md. */
export function describeVariables(): readonly Variable[] {
  return VARIABLES;
}

/** For commands that start a separate server and pass it an environment. */
export function environmentOfProcess(): Environment {
  return process.env;
}
