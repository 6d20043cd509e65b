/**
 * The rules of the Settings tab: applies a change to the present settings and lists everything that
 * is wrong with the result. Before it: the settings page, `deploy init`. After it:
 * store-on-records.ts stores settings that pass.
 */
import { isDeepStrictEqual } from "node:util";
import {
  expandTemplate,
  parseScope,
  placeholderNames,
  type PlaceholderSpecs,
  requireKnownPlaceholders,
} from "@oauth-broker/oauth-core/protocol";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { type Problem, problemOfThrown, readSecret } from "@oauth-broker/service/configuration";
import { refusal } from "../refusal.ts";
import type { ConnectorSettings, Registration, SettingsChange } from "./connector.ts";
import { isVendorId, vendorProblem } from "./vendor.ts";

export const NEW_SETTINGS: ConnectorSettings = {
  authentication: "none",
  registration: "none",
  hasClientSecret: false,
  placeholders: {},
};

export interface SettingsRules {
  /** Private networks that vendors' endpoints may be in, as in a self-hosted deployment. */
  readonly allowCidrs: readonly string[];
}

const AUTHENTICATIONS: readonly ConnectorSettings["authentication"][] = ["oauth_2_1", "none"];
const REGISTRATIONS: readonly Registration[] = ["pre_registered_client", "hosted_server", "broker", "none"];
/** Settings that are one text each. */
export const TEXTS = ["clientId", "authorizationUrl", "tokenUrl", "scopes", "vendorOrIssuer"] as const;
/**
 * The recipient a secret is entered for. If one of these changed and the secret stayed, it would be
 * sent to another recipient.
 */
const BOUND = ["clientId", "tokenUrl", "vendorOrIssuer"] as const;
/** What only a connector to a vendor has. */
const OF_VENDOR = ["vendorOrIssuer", "authorizationUrl", "tokenUrl"] as const;
const LONGEST_SECRET = 2048;

/** Applies a change without checking it. Ignores names that settings do not have. */
export function changedSettings(before: ConnectorSettings, change: SettingsChange): ConnectorSettings {
  const { authentication = before.authentication, registration = before.registration } = change;
  const texts = TEXTS.flatMap((name): [string, string][] => {
    const text = change[name]?.trim() ?? before[name] ?? "";
    return text === "" ? [] : [[name, text]];
  });
  return {
    authentication,
    registration,
    ...Object.fromEntries(texts),
    hasClientSecret: change.clientSecret === undefined ? before.hasClientSecret : change.clientSecret !== null,
    placeholders: { ...(change.placeholders ?? before.placeholders) },
  };
}

/** Lists everything that would be wrong after the change, each with the name of its field. */
export function changeProblems(
  before: ConnectorSettings,
  change: SettingsChange,
  rules: SettingsRules,
): readonly Problem[] {
  const after = changedSettings(before, change);
  return [...settingsProblems(after, rules), ...secretProblems(before, change, after)];
}

/** @throws OAuthError invalid_request that names every problem */
export function requireSettings(before: ConnectorSettings, change: SettingsChange, rules: SettingsRules): void {
  const problems = changeProblems(before, change, rules);
  if (problems.length === 0) return;
  const description = problems.map(({ path, problem }) => `${path} ${problem}`).join("; ");
  throw refusal("settings_invalid", description);
}

/** Lists everything that is wrong, each with the name of its field. */
export function settingsProblems(settings: ConnectorSettings, { allowCidrs }: SettingsRules): readonly Problem[] {
  const { authentication, registration, clientId, hasClientSecret, scopes, placeholders } = settings;
  const found: Problem[] = [];
  const add = (path: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push({ path, problem });
  };
  if (!AUTHENTICATIONS.includes(authentication)) add("authentication", `must be one of ${AUTHENTICATIONS.join(", ")}`);
  if (!REGISTRATIONS.includes(registration)) add("registration", `must be one of ${REGISTRATIONS.join(", ")}`);
  else if (authentication === "none" && registration !== "none")
    add("registration", "must be none when authentication is none");
  else if (authentication === "oauth_2_1" && registration === "none")
    add("registration", "must say who registers the client when authentication is oauth_2_1");
  if (clientId !== undefined) add("clientId", checkPasted(clientId));
  if (hasClientSecret && clientId === undefined) add("clientId", "is missing: a client secret needs a client id");
  if (scopes !== undefined) add("scopes", wrongWith(() => parseScope(scopes)) ?? commaProblem(settings));
  const specs = REGISTRY.get(settings.vendorOrIssuer ?? "")?.placeholders ?? {};
  for (const [path, template] of templatesOf(settings)) {
    // The rules of an endpoint apply to the URL with its placeholders filled.
    const filled = (): string => expandTemplate(template, placeholders, specs);
    const problem = wrongWith(() => requireEgressUrl(filled(), { allowLoopback: true, allowCidrs }));
    if (problem !== undefined) add(path, `is not usable: ${problem}`);
  }
  add("placeholders", placeholdersProblem(settings, specs));
  if (registration === "hosted_server") {
    for (const name of OF_VENDOR) {
      if (settings[name] !== undefined) add(name, "must be empty: the server's own metadata says where users sign in");
    }
  }
  // Says the same as a rule above if that has found something.
  const problem = registration === "pre_registered_client" && found.length === 0 ? vendorProblem(settings) : undefined;
  return problem === undefined ? found : [problem];
}

/** Only an entry says that its vendor does not separate scopes by commas. */
function commaProblem({ scopes = "", vendorOrIssuer = "" }: ConnectorSettings): string | undefined {
  const separator = REGISTRY.get(vendorOrIssuer)?.vendor.scopeSeparator ?? ",";
  return scopes.includes(",") && separator !== "," ? "has a comma: separate scopes by spaces" : undefined;
}

function checkPasted(text: string): string | undefined {
  const read = readSecret(text);
  return "problem" in read ? read.problem : undefined;
}

function secretProblems(before: ConnectorSettings, change: SettingsChange, after: ConnectorSettings): Problem[] {
  const secret = change.clientSecret?.reveal();
  if (secret !== undefined) {
    const problem = secret.length > LONGEST_SECRET ? "is too long" : checkPasted(secret);
    return problem === undefined ? [] : [{ path: "clientSecret", problem }];
  }
  // It may be sent to no other recipient than it was entered for.
  if (!after.hasClientSecret || isDeepStrictEqual(secretRecipient(before), secretRecipient(after))) return [];
  return [
    { path: "clientSecret", problem: "must be entered again: it was entered for another client or token endpoint" },
  ];
}

/** The recipient of a client secret, as the context it is sealed under (connector-secrets.ts). */
export function secretRecipient(settings: ConnectorSettings): readonly string[] {
  const values = Object.entries(settings.placeholders).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [...BOUND.map((name) => settings[name] ?? ""), ...values.flat()];
}

/**
 * The URLs that may contain placeholders, by the name of their field. A vendor's id is not a URL.
 */
function templatesOf({ authorizationUrl, tokenUrl, vendorOrIssuer }: ConnectorSettings): [string, string][] {
  const isIssuer = vendorOrIssuer !== undefined && !isVendorId(vendorOrIssuer);
  const all = Object.entries({ authorizationUrl, tokenUrl, ...(isIssuer ? { vendorOrIssuer } : {}) });
  return all.flatMap(([name, template]) => (template === undefined ? [] : [[name, template]]));
}

function placeholdersProblem(settings: ConnectorSettings, specs: PlaceholderSpecs): string | undefined {
  const { placeholders, registration, vendorOrIssuer = "" } = settings;
  if (Object.values(placeholders).some((value) => typeof value !== "string")) return "must be texts by name";
  // Only the broker knows the placeholders of its operator's own vendors.
  if (registration === "broker" && isVendorId(vendorOrIssuer) && !REGISTRY.has(vendorOrIssuer)) return undefined;
  const templates = templatesOf(settings).map(([, template]) => template);
  // Invalid braces were already reported with their URL.
  const readable = templates.filter((template) => wrongWith(() => placeholderNames(template)) === undefined);
  if (readable.length < templates.length) return undefined;
  const problem = wrongWith(() => requireKnownPlaceholders(placeholders, readable, specs));
  return problem === undefined ? undefined : "has a name that no URL and no vendor of this connector uses";
}

const wrongWith = (run: () => unknown): string | undefined => problemOfThrown(() => void run());
