/**
 * Attacks on calls of a server of several vendors, for the tests in mcp/elicitation and their
 * twins: a `requestState` and a `Mcp-Session-Id` that Alice's client got, presented in requests
 * they were not made for; a tool that fetches any URL; a vendor that requires more than the session
 * permits.
 */
import { z } from "zod";
import { type LinkedCalls, openLinkedCalls, type RawAnswer } from "./linked-calls.ts";
import { initialize, legacyCall, modernCall } from "./raw-calls.ts";
import { testTool } from "../test-tool.ts";

/** Whom each tool ran for, and whose tokens the vendors were sent. */
const tool = (name: string) =>
  testTool(name, {
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

export async function openReplayedState(): Promise<ReplayedState> {
  const calls = await openLinkedCalls([tool("post"), tool("remove")]);
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

/** Fetches `url` as the vendor it is given. */
const fetching = testTool("fetch", {
  input: z.object({ as: z.enum(["github", "slack"]), url: z.string() }),
  vendors: { github: { scopes: [] }, slack: { scopes: [] } },
  run: async ({ as, url }, { vendors }) => {
    const answer = await vendors[as].fetch(url);
    return `${vendors[as].id} ${vendors[as].name} ${await answer.text()}`;
  },
});

/** Alice and Bob have linked both vendors. */
export async function openFetching(): Promise<{
  readonly calls: LinkedCalls;
  /** @returns the text that the tool answers */
  run(bearer: string, as: string, url: string): Promise<string>;
}> {
  const calls = await openLinkedCalls([fetching]);
  for (const user of ["alice", "bob"]) for (const id of ["github", "slack"] as const) calls.setLink(user, id, {});
  const run = async (bearer: string, as: string, url: string): Promise<string> => {
    const { body } = await calls.send(bearer, ...modernCall("fetch", { arguments: { as, url } }));
    return body.result.content[0].text;
  };
  return { calls, run };
}

/** May write messages, and no more. */
const writing = testTool("write", {
  annotations: { readOnlyHint: true },
  vendor: "slack",
  scopes: ["chat:write"],
  run: async (_, { vendor }) => (await vendor.fetch("https://api.slack.example/x")).text(),
});

/** @returns the scopes that the user is asked for after a vendor has named one more */
export async function askedBeyond(): Promise<readonly string[]> {
  const calls = await openLinkedCalls([writing]);
  calls.scopes.set("alice.desk.narrow", ["slack:chat:write"]);
  calls.setLink("alice", "slack", { scope: ["chat:write"] });
  const challenge = 'Bearer error="insufficient_scope", scope="chat:write users:read"';
  calls.onVendor = () => new Response("", { status: 403, headers: { "www-authenticate": challenge } });
  await calls.send("alice.desk.narrow", ...modernCall("write"));
  await calls.close();
  return calls.tickets.flatMap(({ scopes }) => scopes);
}
