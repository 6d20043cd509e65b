/** One call of a tool, as run-tool.ts gets it and this folder passes it on. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Caller, CallerLinks } from "../../mode.ts";
import type { Tool } from "../../tool.ts";
import type { NamedVendor } from "../tools/tool-vendors.ts";
import type { AskedTicket } from "./request-state.ts";

/** `legacy`: 2025-11-25 and before. */
export type Era = "modern" | "legacy";

/** A call that the bearer token permits. */
export interface ToolCall {
  readonly tool: Tool;
  /** The vendors that the tool names. */
  readonly named: readonly NamedVendor[];
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly context: ServerContext;
  readonly era: Era;
  /** Who sent it: the hash of its access token and `Mcp-Session-Id`. */
  readonly from: string;
  /** With `VENDORS`. */
  readonly linked: LinkedRequest | undefined;
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
