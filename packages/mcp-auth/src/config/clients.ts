/** OAUTH_CLIENTS: the MCP clients an operator lists in advance. */
import { nearest, parseJsonStrict } from "@oauth-broker/oauth-core";
import { checkRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import { checkClientId, checkName } from "@oauth-broker/service/configuration";
import type { StaticClient } from "../settings.ts";

const MEMBERS = ["client_id", "client_name", "redirect_uris"] as const;
const MOST_URIS = 20;

/**
 * @returns the clients, or the problems of the value, each as the end of a sentence; no value is
 *   repeated
 */
export function parseStaticClients(json: string): {
  readonly clients: readonly StaticClient[];
  readonly problems: readonly string[];
} {
  const list = parsed(json);
  if (!Array.isArray(list)) return { clients: [], problems: ["must be a JSON array, each member of an object once"] };
  const problems: string[] = [];
  const clients = list.flatMap((entry: unknown, index) => {
    const before = problems.length;
    const client = readClient(entry, (problem) => void problems.push(`[${index}] ${problem}`));
    return problems.length === before && client !== undefined ? [client] : [];
  });
  const ids = clients.map(({ clientId }) => clientId);
  if (new Set(ids).size < ids.length) problems.push("has two clients with the same client_id");
  return { clients, problems };
}

function parsed(json: string): unknown {
  try {
    return parseJsonStrict(json);
  } catch {
    return undefined;
  }
}

function readClient(entry: unknown, say: (problem: string) => void): StaticClient | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    say("must be an object");
    return undefined;
  }
  for (const name of Object.keys(entry)) sayIfUnknown(name, say);
  const { client_id: clientId, client_name: name, redirect_uris: uris } = entry as Record<string, unknown>;
  if (typeof clientId !== "string") say("needs a client_id");
  else sayProblem("client_id", checkClientId(clientId), say);
  if (typeof name !== "string") say("needs a client_name: users read it on the consent page");
  else sayProblem("client_name", checkName(name), say);
  const redirectUris = readRedirectUris(uris, say);
  return typeof clientId === "string" && typeof name === "string"
    ? { clientId, clientName: name, redirectUris }
    : undefined;
}

function sayIfUnknown(name: string, say: (problem: string) => void): void {
  if (MEMBERS.some((known) => known === name)) return;
  if (name === "client_secret") {
    say("must not have a client_secret: clients here are public, and PKCE binds their codes");
    return;
  }
  const near = nearest(name, MEMBERS);
  say(
    `has a member that is not known: ${near === undefined ? `there are ${MEMBERS.join(", ")}` : `did you mean ${near}?`}`,
  );
}

function readRedirectUris(uris: unknown, say: (problem: string) => void): string[] {
  const list: unknown[] = Array.isArray(uris) ? uris : [];
  if (list.length === 0 || list.length > MOST_URIS) {
    say(`needs redirect_uris: an array of 1 to ${MOST_URIS}`);
    return [];
  }
  return list.flatMap((uri) => {
    if (typeof uri !== "string") {
      say("has a redirect URI that is not a string");
      return [];
    }
    sayProblem("a redirect URI of it", checkRedirectUri(uri), say);
    return [uri];
  });
}

function sayProblem(what: string, problem: string | undefined, say: (problem: string) => void): void {
  if (problem !== undefined) say(`${what} ${problem}`);
}
