/**
 * Whether the client of a call can show its user a URL. In 2026-07-28 the call itself says it. In
 * 2025-11-25 only `initialize` does, and nothing is kept between requests: so `initialize` is
 * answered with a `Mcp-Session-Id` that holds it, sealed. It is not an identity and permits
 * nothing.
 */
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import { open, seal } from "@oauth-broker/token-store";
import type { Caller } from "../../mode.ts";
import type { ElicitationDeps } from "./deps.ts";
import { tryOpen } from "./request-state.ts";

export interface McpSessions {
  /**
   * @param capabilities as `initialize` declares them, of any type
   * @returns the value of `Mcp-Session-Id`
   * @throws OAuthError temporarily_unavailable
   */
  seal(capabilities: unknown, caller: Pick<Caller, "user" | "clientId">): Promise<string>;
  /**
   * @param header `Mcp-Session-Id` as received
   * @returns whether this client of this user declared it; false for a header that is not ours
   * @throws OAuthError temporarily_unavailable
   */
  elicitsUrls(header: string | null, caller: Pick<Caller, "user" | "clientId">): Promise<boolean>;
}

const MOST_CHARACTERS = 1_024;

export function createMcpSessions({ seals, source }: Pick<ElicitationDeps, "seals" | "source">): McpSessions {
  return {
    seal: async (capabilities, caller) => {
      const text = JSON.stringify({
        capabilities: hasUrlElicitation(capabilities) ? { elicitation: { url: {} } } : {},
      });
      return seal(await seals.derive("mcp-session"), text, bindingsOf(caller, source));
    },
    elicitsUrls: async (header, caller) => {
      if (header === null || header.length > MOST_CHARACTERS) return false;
      const key = await seals.derive("mcp-session");
      const text = tryOpen(() => open(key, header, bindingsOf(caller, source)));
      return text !== undefined && hasUrlElicitation((JSON.parse(text) as { capabilities: unknown }).capabilities);
    },
  };
}

/** @returns whether the client of a call of 2026-07-28 can show its user a URL */
export function declaresUrlElicitation({ mcpReq }: Pick<ServerContext, "mcpReq">): boolean {
  return hasUrlElicitation(memberOf(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY));
}

/** What a session of the protocol is sealed with: it serves no other caller. */
export function bindingsOf(
  { user, clientId }: Pick<Caller, "user" | "clientId">,
  { vendor, issuer }: ElicitationDeps["source"],
): readonly string[] {
  return ["mcp-session", vendor, issuer, user, clientId ?? ""];
}

/** `elicitation: {}` is forms alone. */
function hasUrlElicitation(capabilities: unknown): boolean {
  return isObject(memberOf(memberOf(capabilities, "elicitation"), "url"));
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
