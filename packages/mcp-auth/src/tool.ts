/**
 * The interface for authors of tools. A tool gets the vendor as its calling user and never knows
 * the server's OAuth mode. One file per tool; the server gets the list of them (server.ts).
 */
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "@oauth-broker/oauth-core";
import type { z } from "zod";

/** The vendor, called as the user. */
export interface VendorApi {
  /** `VENDOR`. */
  readonly id: string;
  readonly name: string;
  /**
   * Like the web's fetch, with the user's token as Bearer, to hosts of the vendor only. When the
   * vendor refuses the token with 401, it is refreshed and the call repeated once, where possible.
   *
   * @throws ToolError, which a tool may let pass: the model reads what happened and what the user
   *   can do
   */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * The user's account as the vendor describes it.
   *
   * @throws ToolError as `fetch`, and when the vendor has no such endpoint
   */
  account(): Promise<JsonObject>;
  /**
   * For a vendor's own SDK. Valid for seconds: request it for every call and do not store it.
   *
   * @throws ToolError
   */
  accessToken(): Promise<string>;
}

/** What a tool gets with each call: the vendor as the calling user, and the call's own signals. */
export interface ToolContext {
  readonly vendor: VendorApi;
  /**
   * Stable identity of the calling user at the vendor. A tool stores what it keeps between calls
   * under this key.
   */
  readonly user: string;
  /** Fires when the client disconnects or cancels. Pass it on. */
  readonly signal: AbortSignal;
  /** Sends progress to a client that asked for it; does nothing otherwise. */
  progress(done: number, total?: number, message?: string): Promise<void>;
}

/**
 * A string is text; any other JSON value is shown as JSON text; a `CallToolResult` is returned
 * unchanged.
 */
export type ToolAnswer = JsonValue | CallToolResult;

/** One tool: what the model reads about it, what it takes, what it does for the calling user. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title?: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly annotations?: ToolAnnotations;
  /**
   * Vendor scopes the call needs; a bearer token without one of them is answered 403
   * `insufficient_scope`. `[]`: none. Left out: unknown, so the bearer token must permit everything
   * the user's vendor token permits.
   */
  readonly scopes?: readonly string[];
  run(input: z.output<Input>, context: ToolContext): Promise<ToolAnswer>;
}

/** Ties `run`'s argument to `input`. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

/**
 * The message the model reads when a call fails: a sentence without secrets. Of any other error a
 * tool throws, the model sees only a reference.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
