/**
 * The interface authors write tools against. A tool gets the vendor as its calling user and never knows which OAuth mode
 * the server runs in. One file per tool; the server is given the list of them (server.ts).
 */
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import type { JsonObject, JsonValue } from "@oauth-broker/oauth-core";
import type { z } from "zod";

/** The vendor, as the user who calls. */
export interface VendorApi {
  /** `VENDOR`. */
  readonly id: string;
  readonly name: string;
  /**
   * As the web's fetch, with the user's token as Bearer, to hosts of the vendor only. A token the vendor refuses with 401 is
   * renewed and the call repeated once, where that is possible.
   *
   * @throws ToolError, which a tool may let pass: the model is told what happened and what the user can do
   */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  /** The user's account as the vendor tells it. @throws ToolError as `fetch`, and where the vendor has no such endpoint */
  account(): Promise<JsonObject>;
  /** For a vendor's own SDK. Good for seconds: ask again for every call, keep it nowhere. @throws ToolError */
  accessToken(): Promise<string>;
}

/** What a tool gets with each call: the vendor as the calling user, and the call's own signals. */
export interface ToolContext {
  readonly vendor: VendorApi;
  /** Stable identity of the calling user at the vendor. What a tool keeps between calls it keeps under this. */
  readonly user: string;
  /** Ends when the client goes away or cancels. Hand it on. */
  readonly signal: AbortSignal;
  /** Told to a client that asked for it; costs nothing where none did. */
  progress(done: number, total?: number, message?: string): Promise<void>;
}

/** A string is text; any other JSON value is shown as JSON text; a `CallToolResult` goes as it is. */
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
   * Vendor scopes the call needs; a bearer token without one of them is answered 403 `insufficient_scope`. `[]`: none. Left out:
   * unknown, so the bearer token must permit all that the user's vendor token is good for.
   */
  readonly scopes?: readonly string[];
  run(input: z.output<Input>, context: ToolContext): Promise<ToolAnswer>;
}

/** Ties `run`'s argument to `input`. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

/** What the model is told when a call fails: a sentence without secrets. Any other error a tool throws is told as a reference only. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
