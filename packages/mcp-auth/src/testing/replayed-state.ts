/**
 * A `requestState` and a `Mcp-Session-Id` that Alice's client got, presented in requests they were
 * not made for: the attacks of mcp/linking/attacks.test.ts and their twins.
 */
import { z } from "zod";
import type { createMcpEndpoint } from "../mcp/endpoint.ts";
import { defineTool } from "../tool.ts";
import {
  initialize,
  legacyCall,
  type LinkedCalls,
  modernCall,
  openLinkedCalls,
  type RawAnswer,
} from "./linked-calls.ts";

/** Whom each tool ran for, and whose tokens the vendors were sent. */
const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    input: z.object({ text: z.string().optional(), to: z.array(z.string()).optional() }),
    vendor: "slack",
    scopes: ["chat:write"],
    run: async ({ text }, { vendor, user }) => `ran for ${user}: ${text} ${await vendor.accessToken()}`,
  });

export const ARGUMENTS = { text: "hi", to: ["a", "b"] };
/** Each differs from Alice's call in one thing. */
export const REPLAYS = {
  user: { bearer: "bob.desk", name: "post", arguments: ARGUMENTS },
  client: { bearer: "alice.other", name: "post", arguments: ARGUMENTS },
  tool: { bearer: "alice.desk", name: "remove", arguments: ARGUMENTS },
  arguments: { bearer: "alice.desk", name: "post", arguments: { ...ARGUMENTS, text: "another" } },
  "order of a list": { bearer: "alice.desk", name: "post", arguments: { ...ARGUMENTS, to: ["b", "a"] } },
  "no arguments": { bearer: "alice.desk", name: "post", arguments: undefined },
} as const;

export interface ReplayedState {
  readonly calls: LinkedCalls;
  /** Alice's own. */
  readonly state: string;
  present(replay: (typeof REPLAYS)[keyof typeof REPLAYS], requestState?: unknown): Promise<RawAnswer>;
}

export async function openReplayedState(createEndpoint?: typeof createMcpEndpoint): Promise<ReplayedState> {
  const calls = await openLinkedCalls([tool("post"), tool("remove")], createEndpoint && { createEndpoint });
  const { body } = await calls.send("alice.desk", ...modernCall("post", { arguments: ARGUMENTS }));
  const state: string = body.result.requestState;
  for (const user of ["alice", "bob"]) calls.setLink(user, "slack", {});
  for (const ticket of calls.tickets) ticket.state = "linked";
  return {
    calls,
    state,
    present: ({ bearer, name, arguments: given }, requestState = state) =>
      calls.send(bearer, ...modernCall(name, { arguments: given, requestState })),
  };
}

/** @returns whether this client of 2025-11-25 is asked to show URLs, with Alice's `Mcp-Session-Id` */
export async function presentSession(calls: LinkedCalls, bearer: string): Promise<boolean> {
  const id = (await calls.send("alice.desk", initialize())).headers.get("mcp-session-id") ?? "";
  for (const user of ["alice", "bob"] as const) calls.setLink(user, "slack", "missing");
  const [message, headers] = legacyCall("post");
  const { body } = await calls.send(bearer, message, { ...headers, "mcp-session-id": id });
  return body.error?.code === -32042;
}
