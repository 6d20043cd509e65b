/** A server as its author defines it: its name and its tools. start.ts runs it. */
import type { Icon, McpServer, ServerOptions } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

/** A server as its author defines it: who it is and which tools it has. */
export interface ServerDefinition {
  /** For clients; letters, digits, `-` and `.`. */
  readonly name: string;
  readonly version: string;
  /** For the user, if clients show a title. */
  readonly title?: string;
  /** For the user, where clients show more than a title. */
  readonly description?: string;
  readonly websiteUrl?: string;
  /** For clients; the pages show `SERVER_ICON`. */
  readonly icons?: readonly Icon[];
  /** For the model: what the server is for and how its tools work together. */
  readonly instructions?: string;
  readonly tools: readonly Tool[];
  /**
   * Registers other features of the SDK (resources, prompts) on the server object of a request. What
   * one of them throws reaches the client as it is, unlike the error of a tool. The
   * object is created for every request and must not be kept.
   */
  readonly configure?: (server: McpServer) => void;
  /**
   * For features of `configure` that ask the client in several rounds: verifies the state that
   * comes back with the client's input, which the client may have changed. The SDK's
   * `createRequestStateCodec` makes one.
   */
  readonly requestState?: NonNullable<ServerOptions["requestState"]>;
}
