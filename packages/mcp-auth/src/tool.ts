/**
 * The interface for authors of tools. A tool gets the vendor as its calling user and never knows
 * the server's OAuth mode. One file per tool; the server gets the list of them (server.ts).
 */
import { type CallToolResult, type Icon, isCallToolResult, type ToolAnnotations } from "@modelcontextprotocol/server";
import { defined, type JsonObject, type JsonValue } from "@oauth-broker/oauth-core";
import type { z } from "zod";

/** The vendor, called as the user. */
export interface VendorApi {
  /** `VENDOR`, or its id in `VENDORS`. */
  readonly id: string;
  readonly name: string;
  /**
   * Like the web's fetch, with the user's token as Bearer, to hosts of the vendor only. Follows no
   * redirect: a 3xx is an answer, and `location` has the next URL. When the vendor refuses the
   * token with 401, it is refreshed and the call repeated once, if possible.
   *
   * @throws ToolError, which a tool may let pass: the model reads what happened and what the user
   *   can do. With `VENDORS`, NeedsScope if the vendor's answer names the scopes it lacks
   */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * The user's account as the vendor describes it, but for the token if the vendor repeats it there.
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

/** What every tool gets with each call: its vendor as the calling user, and the call's own signals. */
export interface CallContext {
  /**
   * The tool's only vendor: the one it names, or with plain `VENDOR` that one. Reading it throws
   * if the tool names several, and with `VENDORS` if it names none.
   */
  readonly vendor: VendorApi;
  /**
   * Stable identity of the calling user at the vendor, with `VENDORS` at the one that signs users
   * in. A tool stores what it keeps between calls under this key.
   */
  readonly user: string;
  /**
   * Fires when the client disconnects or cancels, and when the server stops before the call ends;
   * never after the call. A client of 2025-11-25 cancels in a separate request, which a sister
   * process may get: then it fires when the client disconnects. Pass it on.
   */
  readonly signal: AbortSignal;
  /** Sends progress to a client that asked for it; does nothing otherwise. */
  progress(done: number, total?: number, message?: string): Promise<void>;
}

/** The vendors that a tool names, under these names. */
export interface NamedVendors<Id extends string> {
  readonly vendors: { readonly [Name in Id]: VendorApi };
}

/**
 * What a tool gets with each call. `vendors` is `{}` for a tool that names no vendor, and a test of
 * it need not make one.
 *
 * @typeParam Id the vendors that the tool names
 */
export type ToolContext<Id extends string = never> = CallContext &
  ([Id] extends [never] ? Partial<NamedVendors<Id>> : NamedVendors<Id>);

/**
 * A string is text; any other JSON value is shown as JSON text, and nothing as a sentence that says
 * so. What JSON shows nothing of, such as a Response, fails the call. A `CallToolResult` of nothing but `content`, `structuredContent` and `isError` is returned as
 * it is: with any further member it is shown as JSON text too, because a vendor's document must not
 * act in the server's name. `toolResult` says that a result is the tool's own.
 */
export type ToolAnswer = JsonValue | CallToolResult | undefined;

const ownResults = new WeakSet<object>();

/**
 * A result with `_meta`, which only the tool itself may give.
 *
 * @param result the only object that passes with it; a copy of what is returned does not
 * @throws TypeError for a member other than `content`, `structuredContent`, `isError` and
 *   `_meta`, and for one that is not as the protocol has it
 */
export function toolResult(result: CallToolResult): CallToolResult {
  const { content, structuredContent, isError, _meta, ...others } = result;
  const further = Object.keys(others);
  if (further.length > 0) throw new TypeError(`toolResult does not take ${further.join(", ")}`);
  const own: CallToolResult = { content, ...defined({ structuredContent, isError, _meta }) };
  if (!isCallToolResult(own)) throw new TypeError("toolResult needs `content` as the protocol has it");
  ownResults.add(own);
  return Object.freeze(own);
}

/** Whether `toolResult` made it. */
export function isToolResult(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && ownResults.has(answer);
}

/** What a tool needs of a vendor. */
export interface VendorNeeds {
  /** The vendor's own scope tokens. `[]`: none. */
  readonly scopes: readonly string[];
  /** By scope a sentence for the user, which the pages show beside it: `Read your repositories`. */
  readonly scopeMeanings?: Readonly<Record<string, string>>;
}

/**
 * Instead of a vendor's id: the vendor that signs users in, which with plain `VENDOR` is the only
 * one. For a tool that works at any vendor.
 */
export const SIGN_IN_VENDOR = "sign_in";

/**
 * One tool: what the model reads about it, what it takes, what it does for the calling user.
 *
 * @typeParam Id the vendors that the tool names
 */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Id extends string = string> {
  readonly name: string;
  readonly title?: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  readonly input: Input;
  /**
   * The schema of the JSON that `run` returns, which is then `structuredContent` too, or of that
   * member of a result. An answer of another shape fails the call.
   */
  readonly outputSchema?: z.ZodObject;
  readonly icons?: readonly Icon[];
  /** Passed to clients in the list of tools as it is. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /**
   * For the client. With `readOnlyHint` or `idempotentHint` a call that lacks something only after
   * it has begun may be repeated.
   */
  readonly annotations?: ToolAnnotations;
  /**
   * The vendors the tool works with, by id, each with the scopes the call needs. Before `run`, the
   * bearer token permits these scopes and the user has linked each vendor with them.
   */
  readonly vendors?: { readonly [Name in Id]: VendorNeeds };
  /** The short form for one vendor: `scopes` are then of this one. */
  readonly vendor?: Id;
  /**
   * Vendor scopes the call needs; a bearer token without one of them is answered 403
   * `insufficient_scope`. `[]`: none. Left out: unknown, so the bearer token must permit everything
   * the user's vendor token permits; with `VENDORS` a tool that names its vendor names its scopes.
   */
  readonly scopes?: readonly string[];
  /** As in `vendors`, for the scopes of `vendor`, or with plain `VENDOR` of that one. */
  readonly scopeMeanings?: Readonly<Record<string, string>>;
  run(input: z.output<Input>, context: ToolContext<Id>): Promise<ToolAnswer>;
}

/** Ties `run`'s arguments to `input` and to the vendors that the tool names. */
export function defineTool<Input extends z.ZodObject, const Id extends string = never>(
  tool: Tool<Input, Id>,
): Tool<Input, Id> {
  return tool;
}

/**
 * The message the model reads when a call fails: a sentence without secrets. The model sees only a
 * reference to any other error that a tool throws.
 */
export class ToolError extends Error {
  override readonly name: string = "ToolError";
}

/**
 * The vendor refuses the call until the user grants these scopes, which only its response shows.
 * With `VENDORS` the user is asked for them, if the tool lists them and the bearer token permits
 * them; otherwise it is a ToolError.
 */
export class NeedsScope extends ToolError {
  override readonly name = "NeedsScope";
  readonly vendor: string;
  readonly scopes: readonly string[];

  /**
   * @param vendor as the tool names it, or its `id`
   * @param scopes the vendor's own scope tokens
   */
  constructor(vendor: string, scopes: readonly string[]) {
    super(`${vendor} does not permit this without the scope ${scopes.join(" ")}`);
    this.vendor = vendor;
    this.scopes = scopes;
  }
}
