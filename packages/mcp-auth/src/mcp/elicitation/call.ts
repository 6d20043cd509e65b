/** One call of a tool, as run-tool.ts gets it and this folder passes it on. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Caller, CallerLinks } from "../../mode.ts";
import type { Tool } from "../../tool.ts";
import type { NamedVendor } from "../tools/tool-vendors.ts";
import type { AskedTicket } from "./request-state.ts";

/** `legacy`: 2025-11-25 and before. */
export type Era = "modern" | "legacy";

/** A request to `/mcp`, as the tools that it calls know it. */
export interface McpRequest {
  readonly caller: Caller;
  /** Whose its calls are, for a request that cancels one. */
  readonly from: string;
  /** With `VENDORS`. */
  readonly linked: LinkedRequest | undefined;
}

/** A call that the bearer token permits. */
export interface ToolCall extends McpRequest {
  readonly tool: Tool;
  /** The vendors that the tool names. */
  readonly named: readonly NamedVendor[];
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: ServerContext;
  readonly era: Era;
}

/** A call that runs. */
export interface RunningToolCall extends ToolCall {
  /** The call's own: it does not fire when the call has ended. */
  readonly signal: AbortSignal;
}

/** What a request contains that the SDK does not pass on. */
export interface LinkedRequest {
  readonly links: CallerLinks;
  /** The tickets of a verified `requestState`; none in a first call. */
  readonly asked: readonly AskedTicket[];
  /** @returns `requestState` for a retry of this call */
  sealState(tickets: readonly AskedTicket[], expiresAt: number): Promise<string>;
  /** For a client of 2025-11-25: whether it declared URL elicitation. */
  elicitsUrls(): Promise<boolean>;
}
