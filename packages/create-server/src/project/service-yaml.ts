/**
 * service.yaml of a project: what the platform reads. The paths are those the server has in its
 * mode, and no others.
 */
import { placeholderNames } from "@oauth-broker/oauth-core/protocol";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { prefixOf } from "@oauth-broker/mcp-auth/config";
import type { Choices, ProjectVendor } from "../choices/choices.ts";

const METADATA = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
];

/** The public paths of a server whose users link several vendors: their callbacks and the pages. */
const LINKING = ["/vendors/*", "/connect/*", "/connections"];

/**
 * The OAuth paths of a scaffolded server; none in pre-registered mode. A test compares them with
 * the running server.
 */
export function exposedPaths({
  mode,
  callback,
  vendors,
}: Pick<Choices, "mode" | "callback" | "vendors">): readonly string[] {
  if (mode === "pre-registered") return [];
  const own = callback === "server" ? ["/callback"] : [];
  const linking = vendors.length > 1 ? LINKING : [];
  return [...METADATA, "/authorize", ...own, "/token", "/register", "/revoke", ...linking, "/favicon.ico"];
}

/** The environment that service.yaml gives the server. */
export function environmentOf({ mode, callback, vendors }: Choices): Record<string, string> {
  const [first, ...others] = vendors;
  if (others.length > 0) {
    return {
      OAUTH_MODE: mode,
      OAUTH_DYNAMIC_REGISTRATION: "open",
      VENDORS: vendors.map(({ id }) => id).join(","),
      SIGN_IN: first.id,
      ...Object.assign({}, ...vendors.map((vendor) => variablesOf(vendor, prefixOf(vendor.id)))),
    };
  }
  return {
    OAUTH_MODE: mode,
    ...(mode === "hosted" && callback === "server"
      ? { OAUTH_CALLBACK: "server", OAUTH_DYNAMIC_REGISTRATION: "open" }
      : {}),
    VENDOR: first.id,
    ...variablesOf(first, "VENDOR_"),
  };
}

function variablesOf({ id, scopes }: ProjectVendor, prefix: string): Record<string, string> {
  const placeholders = placeholdersOf(id);
  return {
    ...(scopes.length === 0 ? {} : { [`${prefix}SCOPES`]: scopes.join(" ") }),
    ...(REGISTRY.has(id) ? {} : { [`${prefix}ISSUER`]: "" }),
    ...(placeholders === undefined ? {} : { [`${prefix}PLACEHOLDERS`]: JSON.stringify(placeholders) }),
  };
}

/**
 * The placeholders in the vendor's OAuth endpoints and fixed parameters without a default value:
 * empty, for the author to fill in.
 */
function placeholdersOf(vendor: string): Record<string, string> | undefined {
  const entry = REGISTRY.get(vendor);
  if (entry === undefined) return undefined;
  const { authorizationEndpoint = "", tokenEndpoint = "", authorizationParams, redirectUriAlias = "" } = entry.vendor;
  const texts = [...Object.values(authorizationParams), redirectUriAlias];
  const isParameter = (name: string): boolean => texts.some((text) => text.includes(`{${name}}`));
  const given = new Set(
    [authorizationEndpoint, tokenEndpoint].flatMap((url) => placeholderNames(url, entry.placeholders)),
  );
  const open = Object.entries(entry.placeholders).filter(
    ([name, { default: usual }]) => usual === undefined && (given.has(name) || isParameter(name)),
  );
  return open.length === 0 ? undefined : Object.fromEntries(open.map(([name]) => [name, ""]));
}

export function serviceYaml(choices: Choices): string {
  const { name, mode, vendors } = choices;
  const paths = exposedPaths(choices);
  const environment = Object.entries(environmentOf(choices)).map(([key, value]) => `  ${key}: ${scalar(value)}`);
  return [
    "# yaml-language-server: $schema=./service.schema.json",
    "# What the platform deploys. The variables of `environment` are described in README.md.",
    `name: ${name}`,
    `mode: ${mode}`,
    ...(mode === "hosted" ? hostedPart(paths, vendors) : PRE_REGISTERED_PART),
    ...(vendors.some(({ id }) => !REGISTRY.has(id)) ? VENDOR_OF_ONES_OWN : []),
    "environment:",
    ...environment,
    "",
  ].join("\n");
}

function hostedPart(paths: readonly string[], vendors: Choices["vendors"]): string[] {
  return [
    "# Its own table for tokens and sessions; the platform sets DB_TABLE_NAME, DB_TABLE_REGION, TOKEN_ENCRYPTION_KMS_KEY_ID.",
    "enable_db: true",
    "service:",
    "  # Served without a bearer token: exactly the OAuth paths that exist in this mode, and the icon. /mcp never belongs here.",
    "  expose:",
    ...paths.map((path) => `    - ${path}`),
    ...(vendors.length > 1 ? clientsOfSeveral(vendors) : CLIENT_OF_ONE),
  ];
}

const CLIENT_OF_ONE = [
  "# The platform also sets DEPLOYMENT_URL and PLATFORM_OAUTH_CALLBACK_URL. VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET are yours",
  "# to give the deployment, as secrets: `VENDOR_CLIENT_SECRET: env:VENDOR_CLIENT_SECRET` takes one from the environment of",
  "# the deploy, which has to allow it by name (deploy run --env VENDOR_CLIENT_SECRET).",
];

function clientsOfSeveral(vendors: Choices["vendors"]): string[] {
  const [first, ...others] = vendors;
  const secret = `${prefixOf(first.id)}CLIENT_SECRET`;
  return [
    "# The platform also sets DEPLOYMENT_URL. The client at each vendor is yours to give the deployment, as secrets:",
    `# \`${secret}: env:${secret}\` takes one from the environment of the deploy, which has to`,
    `# allow it by name (deploy run --env ${secret}). Their redirect URIs:`,
    `#   ${prefixOf(first.id)}CLIENT_ID   DEPLOYMENT_URL/callback`,
    ...others.map(({ id }) => `#   ${prefixOf(id)}CLIENT_ID   DEPLOYMENT_URL/vendors/${id}/callback`),
  ];
}

const VENDOR_OF_ONES_OWN = [
  "# A vendor that the registry does not have is found by its issuer, which is yours to fill in below. What one without an",
  "# issuer needs is in README.md, at `For a vendor outside the registry`.",
];

const PRE_REGISTERED_PART = [
  "# No enable_db and no service.expose: in this mode the server keeps nothing and has no OAuth paths.",
  "# VENDOR_CLIENT_ID is worth adding: the platform's client at the vendor, whose tokens are then the only ones taken. With a",
  "# vendor that does not say which client a token is of, the server refuses it at its start.",
];

/**
 * Plain if YAML reads the same text back, otherwise in quotation marks, which YAML reads as JSON
 * does.
 */
function scalar(value: string): string {
  return /^[A-Za-z][\w./ -]*(?::[\w./-]+)*(?: [\w./:-]+)*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
    ? value
    : JSON.stringify(value);
}
