/**
 * Scopes at Microsoft: each belongs to a resource app, and one token is for one resource.
 *
 * Seen 2026-11: the GUID of "Agent 365 Tools" and its scopes, `/.default`.
 * Recalled: that the answer names the resource's scopes alone.
 */
import type { AadstsCode } from "./microsoft-errors.ts";

export const AGENT_365_TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";

const NAMES =
  "Mail Calendar Teams Me OneDriveSharepoint SharepointLists Word CopilotMCP M365Admin Dataverse Management".split(" ");
const ALL = NAMES.map((name) => `${AGENT_365_TOOLS}/McpServers.${name}.All`);
const GRAPH = "https://graph.microsoft.com/User.Read";
const SIGN_IN: ReadonlySet<string> = new Set(["openid", "profile", "email", "offline_access"]);

/** @returns undefined when one of them is not known */
export function readScopes(scopes: readonly string[]): readonly string[] | undefined {
  const others = [GRAPH, `${AGENT_365_TOOLS}/.default`];
  const isKnown = (scope: string) => SIGN_IN.has(scope) || ALL.includes(scope) || others.includes(scope);
  return scopes.every(isKnown) ? scopes : undefined;
}

/** The scopes of these that a token is for; `.default` means all of its resource. */
export function resourceScopes(scopes: readonly string[]): readonly string[] {
  if (scopes.includes(`${AGENT_365_TOOLS}/.default`)) return ALL;
  return scopes.filter((scope) => !SIGN_IN.has(scope));
}

/** Ids or URLs of the resources these belong to. */
export function resourcesOf(scopes: readonly string[]): readonly string[] {
  return [...new Set(resourceScopes(scopes).map((scope) => scope.slice(0, scope.lastIndexOf("/"))))];
}

/** The response to `resource`, at both endpoints. */
export function resourceMistake(scopes: readonly string[]): AadstsCode {
  return resourcesOf(scopes).length > 0 ? "AADSTS9010010" : "AADSTS901002";
}

/** The text a user reads on the consent page. */
export function microsoftScopeText(scope: string): string {
  if (scope === "offline_access") return "Stay connected while you are away";
  if (SIGN_IN.has(scope)) return "Sign you in and read your profile";
  const name = /McpServers\.(\w+)\.All$/.exec(scope)?.[1];
  return name === undefined ? "Use everything the app is registered for" : `Use the ${name} tools as you`;
}
