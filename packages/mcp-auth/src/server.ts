/** A server as its author defines it: who it is and what it can do. start.ts runs it. */
import type { McpServer, ServerOptions } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";

/** A server as its author defines it: who it is and which tools it has. */
export interface ServerDefinition {
  /** For clients; letters, digits, `-` and `.`. */
  readonly name: string;
  readonly version: string;
  /** For people, where clients show one. */
  readonly title?: string;
  /** For the model: what the server is for and how its tools go together. */
  readonly instructions?: string;
  readonly tools: readonly Tool[];
  /**
   * Anything else of the SDK's (resources, prompts), registered on the one server object of a request. It is made anew for
   * every request and must not be kept.
   */
  readonly configure?: (server: McpServer) => void;
  /**
   * For what `configure` registers that asks the client in several rounds: verifies the state that comes back with its answers,
   * which the client may have changed. The SDK's `createRequestStateCodec` makes one.
   */
  readonly requestState?: NonNullable<ServerOptions["requestState"]>;
}
