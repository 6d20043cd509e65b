/**
 * The Settings tab's rules: what a change makes of the settings there are, and everything that is wrong with the result.
 * Before it: the settings page, `deploy init`. After it: connector-record.ts keeps what passed.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import {
  expandTemplate,
  parseScope,
  placeholderNames,
  type PlaceholderSpecs,
  requireKnownPlaceholders,
} from "@oauth-broker/oauth-core/protocol";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { checkVisible, type Problem, problemOfThrown } from "@oauth-broker/oauth-core/configuration";
import type { ConnectorSettings, Registration } from "./connector.ts";
import type { SettingsChange } from "./store.ts";

export const NEW_SETTINGS: ConnectorSettings = {
  authentication: "none",
  registration: "none",
  hasClientSecret: false,
  placeholders: {},
};

export interface SettingsRules {
  /** Private networks in which vendors' endpoints may lie, as a self-hosted deployment has them. */
  readonly allowCidrs: readonly string[];
}

const AUTHENTICATIONS: readonly ConnectorSettings["authentication"][] = ["oauth_2_1", "none"];
const REGISTRATIONS: readonly Registration[] = ["pre_registered_client", "hosted_server", "broker", "none"];
const TEXTS = ["clientId", "authorizationUrl", "tokenUrl", "scopes", "vendorOrIssuer"] as const;
/** What a secret is entered for. Kept when one of these changes, it would travel to somebody else. */
const BOUND = ["clientId", "tokenUrl", "vendorOrIssuer"] as const;
const LONGEST_SECRET = 2048;

/** The settings after a change; nothing is checked. Only names that settings have are taken over. */
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

/** Everything that would be wrong after the change, each with the name of its field. */
export function changeProblems(
  before: ConnectorSettings,
  change: SettingsChange,
  rules: SettingsRules,
): readonly Problem[] {
  const after = changedSettings(before, change);
  return [...settingsProblems(after, rules), ...secretProblems(before, change, after)];
}

/**
 * @throws OAuthError invalid_request that names every problem
 */
export function requireSettings(before: ConnectorSettings, change: SettingsChange, rules: SettingsRules): void {
  const problems = changeProblems(before, change, rules);
  if (problems.length === 0) return;
  const description = problems.map(({ path, problem }) => `${path} ${problem}`).join("; ");
  throw new OAuthError("invalid_request", description, { reason: "settings_invalid" });
}

/** Everything that is wrong, each with the name of its field. */
export function settingsProblems(settings: ConnectorSettings, { allowCidrs }: SettingsRules): readonly Problem[] {
  const { authentication, registration, clientId, hasClientSecret, scopes, placeholders } = settings;
  const found: Problem[] = [];
  const add = (path: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push({ path, problem });
  };
  if (!AUTHENTICATIONS.includes(authentication)) add("authentication", `must be one of ${AUTHENTICATIONS.join(", ")}`);
  if (!REGISTRATIONS.includes(registration)) add("registration", `must be one of ${REGISTRATIONS.join(", ")}`);
  else if (authentication === "none" && registration !== "none")
    add("registration", "must be none where authentication is none");
  else if (authentication === "oauth_2_1" && registration === "none")
    add("registration", "must say who registers the client where authentication is oauth_2_1");
  if (clientId !== undefined) add("clientId", checkVisible(clientId));
  if (hasClientSecret && clientId === undefined) add("clientId", "is missing: a client secret is of no use without it");
  if (scopes !== undefined)
    add(
      "scopes",
      wrongWith(() => parseScope(scopes)),
    );
  const specs = vendorPlaceholders(settings);
  for (const [path, template] of templatesOf(settings))
    add(path, urlProblem(template, placeholders, specs, allowCidrs));
  add("placeholders", placeholdersProblem(settings, specs));
  return found;
}

function secretProblems(before: ConnectorSettings, change: SettingsChange, after: ConnectorSettings): Problem[] {
  const secret = change.clientSecret?.reveal();
  if (secret !== undefined) {
    const problem = secret.length > LONGEST_SECRET ? "is too long" : checkVisible(secret);
    return problem === undefined ? [] : [{ path: "clientSecret", problem }];
  }
  if (!after.hasClientSecret || isSameRecipient(before, after)) return [];
  return [
    { path: "clientSecret", problem: "must be entered again: it was entered for another client or token endpoint" },
  ];
}

/** Whether a secret entered for the one may be sent to where the other leads. */
function isSameRecipient(before: ConnectorSettings, after: ConnectorSettings): boolean {
  return JSON.stringify(secretRecipient(before)) === JSON.stringify(secretRecipient(after));
}

/** Whom a client secret is for, as the context it is sealed under (connector-secrets.ts). */
export function secretRecipient(settings: ConnectorSettings): readonly string[] {
  const values = Object.entries(settings.placeholders).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [...BOUND.map((name) => settings[name] ?? ""), ...values.flat()];
}

/** By the name of their field, the URLs that may hold placeholders. A vendor's id is no URL. */
function templatesOf({ authorizationUrl, tokenUrl, vendorOrIssuer }: ConnectorSettings): [string, string][] {
  const isIssuer = vendorOrIssuer !== undefined && !REGISTRY.has(vendorOrIssuer);
  const all = Object.entries({ authorizationUrl, tokenUrl, ...(isIssuer ? { vendorOrIssuer } : {}) });
  return all.flatMap(([name, template]) => (template === undefined ? [] : [[name, template]]));
}

function vendorPlaceholders({ vendorOrIssuer }: ConnectorSettings): PlaceholderSpecs {
  return vendorOrIssuer === undefined ? {} : (REGISTRY.get(vendorOrIssuer)?.placeholders ?? {});
}

function urlProblem(
  template: string,
  values: Readonly<Record<string, string>>,
  specs: PlaceholderSpecs,
  allowCidrs: readonly string[],
): string | undefined {
  const filled = (): void => {
    // The rules of an endpoint hold for what the placeholders make of it.
    requireEgressUrl(expandTemplate(template, values, specs), { allowLoopback: true, allowCidrs });
  };
  const problem = wrongWith(filled);
  return problem === undefined ? undefined : `is not usable: ${problem}`;
}

function placeholdersProblem(settings: ConnectorSettings, specs: PlaceholderSpecs): string | undefined {
  const { placeholders } = settings;
  if (Object.values(placeholders).some((value) => typeof value !== "string")) return "must be texts by name";
  const templates = templatesOf(settings).map(([, template]) => template);
  // Braces that are none were told with their URL already.
  const readable = templates.filter((template) => wrongWith(() => placeholderNames(template)) === undefined);
  if (readable.length < templates.length) return undefined;
  const problem = wrongWith(() => requireKnownPlaceholders(placeholders, readable, specs));
  return problem === undefined ? undefined : "has a name that no URL and no vendor here uses";
}

const wrongWith = (run: () => unknown): string | undefined => problemOfThrown(() => void run());
