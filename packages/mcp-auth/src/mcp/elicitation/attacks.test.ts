/** What a client sends back is nothing in any other call than its own. The twins: attacks.twin.test.ts. */
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { openLinkedCalls } from "../../testing/linking/linked-calls.ts";
import { initialize, legacyCall, modernCall } from "../../testing/linking/raw-calls.ts";
import {
  ARGUMENTS,
  openReplayedState,
  presentSession,
  type ReplayedState,
  REPLAYS,
} from "../../testing/linking/replayed-state.ts";
import { createRequestStates } from "./request-state.ts";
import { createMcpSessions } from "./url-elicitation.ts";
import { testTool } from "../../testing/test-tool.ts";

const INVALID = { code: -32602, message: "Invalid or expired requestState", data: { reason: "invalid_request_state" } };
const OWN = { bearer: "alice.desk", name: "post", arguments: ARGUMENTS } as never;
const SOURCE = { vendor: "home", issuer: "https://home.example" };
const ELSEWHERE = [
  { ...SOURCE, vendor: "another" },
  { ...SOURCE, issuer: "https://another.example" },
];
const SEALS = { derive: async () => Buffer.alloc(32, 9) };
const CALL = { user: "alice", clientId: "desk", tool: "post", arguments: ARGUMENTS };
const statesOf = (source = SOURCE) => createRequestStates({ seals: SEALS, now: () => 1_700_000_000, source });
const replayed = ofEachTest(openReplayedState);
afterEach(() => replayed.calls.close());

/** Refused, and nothing happened. */
async function expectRefused(answer: ReturnType<ReplayedState["present"]>): Promise<void> {
  const { status, body } = await answer;
  expect([status, body]).toEqual([200, { jsonrpc: "2.0", id: 1, error: INVALID }]);
  expect(replayed.calls.tickets).toHaveLength(1);
  expect(replayed.calls.sent).toEqual([]);
  expect(replayed.calls.lines.filter((line) => line.includes('"event":"tool_call"'))).toHaveLength(1);
}

describe("bar#LK-4 requestState", () => {
  it("is accepted from its own call, however its arguments are spelled", async () => {
    for (const given of [ARGUMENTS, { to: ARGUMENTS.to, text: ARGUMENTS.text }]) {
      const { body } = await replayed.present({ bearer: "alice.desk", name: "post", arguments: given } as never);
      expect(body.result.content[0].text).toBe("ran for alice: hi slack-token-of-alice");
    }
  });

  it.each(Object.entries(REPLAYS))("is refused in another call: %s", async (_, replay) => {
    await expectRefused(replayed.present(replay));
  });

  it("is refused once it has expired", async () => {
    replayed.calls.clock.advance(599);
    expect((await replayed.present(OWN)).body.result.isError).toBeUndefined();
    replayed.calls.lines.length = 0;
    replayed.calls.clock.advance(1);
    const { body } = await replayed.present(OWN);
    expect(body.error).toEqual(INVALID);
  });

  it("is refused when any character is changed, or it is anything but a string of ours", async () => {
    const { state } = replayed;
    const changed = Array.from({ length: 40 }, (_, index) => {
      const at = Math.floor((index * state.length) / 40);
      return state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    });
    const others = ["", " ", "x", "vendor-links.", state.slice(0, -1), `${state}A`, `${state}=`, state.toUpperCase()];
    const large = [`vendor-links.${"A".repeat(65_536)}`, "A".repeat(65_536)];
    for (const forged of [...changed, ...others, ...large, 7, true, null, [], {}, [state]]) {
      await expectRefused(replayed.present(OWN, forged));
    }
  });

  it("made under another key is refused", async () => {
    const forged = await statesOf().seal({ tickets: [], expiresAt: 1_800_000_000 }, CALL);
    await expectRefused(replayed.present(OWN, forged));
  });

  it.each(ELSEWHERE)("of the user of the same name at another sign-in vendor opens nothing: %j", async (source) => {
    const state = await statesOf().seal({ tickets: [], expiresAt: 1_800_000_000 }, CALL);
    expect([await statesOf().open(state, CALL), await statesOf(source).open(state, CALL)]).toEqual([[], undefined]);
  });

  it("of more than eight kilobytes opens nothing, although it is ours", async () => {
    const states = statesOf();
    const sealed = (count: number) => {
      const tickets = Array.from({ length: count }, () => ({ vendor: "slack", id: "A".repeat(43), isRepeated: false }));
      return states.seal({ tickets, expiresAt: 1_800_000_000 }, CALL);
    };
    expect(await states.open(await sealed(40), CALL)).toHaveLength(40);
    expect(await states.open(await sealed(80), CALL)).toBeUndefined();
  });

  it("is refused in 2025-11-25 too, and in a batch", async () => {
    const [message] = legacyCall("remove", { arguments: ARGUMENTS, requestState: replayed.state });
    const headers = { "mcp-protocol-version": "2025-11-25" };
    await expectRefused(replayed.calls.send("alice.desk", message, headers));
    const batch = await replayed.calls.send("alice.desk", [message, legacyCall("post")[0]], headers);
    expect(batch.body).toEqual({ jsonrpc: "2.0", id: null, error: INVALID });
  });

  it("is refused in a call whose arguments are nested without end", async () => {
    const nested = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const [message, headers] = modernCall("post", { arguments: "NESTED", requestState: replayed.state });
    await expectRefused(
      replayed.calls.send("alice.desk", JSON.stringify(message).replace('"NESTED"', nested), headers),
    );
  });

  it("bar#LK-8 widens nothing: a session that has lost the scope gets 403, whatever it presents", async () => {
    replayed.calls.scopes.set("alice.desk.narrow", ["slack:users:read"]);
    const { status } = await replayed.present({ ...REPLAYS.user, bearer: "alice.desk.narrow" } as never);
    expect(status).toBe(403);
  });

  it("bar#LK-8 widens nothing: a link that has gone meanwhile is asked for again", async () => {
    replayed.calls.setLink("alice", "slack", "missing");
    const { body } = await replayed.present(OWN);
    expect(body.result.resultType).toBe("input_required");
    expect(replayed.calls.tickets).toHaveLength(2);
  });

  it("that is refused is logged, and not its value", async () => {
    const { calls, state } = replayed;
    await replayed.present(REPLAYS.user);
    expect(calls.lines.join("")).toContain('"event":"mcp_refused","reason":"request_state_invalid","client_id":"desk"');
    expect(calls.lines.join("")).not.toContain(state.slice(-40));
  });

  it("shows the client nothing of the ticket, the user or the tool", () => {
    const text = Buffer.from(replayed.state.slice("vendor-links.".length), "base64url").toString("latin1");
    for (const secret of ["id-1", "alice", "post", "slack"]) expect(text).not.toContain(secret);
  });
});

describe("Mcp-Session-Id", () => {
  it("bar#RS-5 is answered to `initialize` alone, and nothing but a hint", async () => {
    const { calls } = replayed;
    const started = await calls.send("alice.desk", initialize());
    expect(started.headers.get("mcp-session-id")).toMatch(/^[\w-]{80,300}$/);
    expect(started.text).not.toContain(started.headers.get("mcp-session-id"));
    expect((await calls.send("alice.desk", ...legacyCall("post"))).headers.has("mcp-session-id")).toBe(false);
    // Without the bearer token it is no identity.
    const sent = { "mcp-session-id": started.headers.get("mcp-session-id") ?? "" };
    expect((await calls.send("mallory.desk", initialize(), sent)).status).toBe(401);
  });

  it("stays small, whatever a client declares", async () => {
    const capabilities = { elicitation: { url: {} }, experimental: { large: { text: "x".repeat(100_000) } } };
    const { headers } = await replayed.calls.send("alice.desk", initialize(capabilities));
    expect(headers.get("mcp-session-id")?.length).toBeLessThan(300);
  });

  it.each([
    ["alice.desk", true],
    ["alice.other", false],
    ["bob.desk", false],
  ])("bar#RS-5 counts for its own user and client: %s", async (bearer, isAsked) => {
    expect(await presentSession(replayed.calls, bearer)).toBe(isAsked);
  });

  it.each(ELSEWHERE)("bar#RS-5 counts for no user of another sign-in vendor: %j", async (source) => {
    const here = createMcpSessions({ seals: SEALS, source: SOURCE });
    const id = await here.seal({ elicitation: { url: {} } }, CALL);
    expect(await here.elicitsUrls(id, CALL)).toBe(true);
    expect(await createMcpSessions({ seals: SEALS, source }).elicitsUrls(id, CALL)).toBe(false);
  });

  it("is no requestState, and a requestState is none", async () => {
    const id = (await replayed.calls.send("alice.desk", initialize())).headers.get("mcp-session-id") ?? "";
    await expectRefused(replayed.present(OWN, `vendor-links.${id}`));
  });
});

describe("an author's own requestState", () => {
  const version = { "mcp-protocol-version": "2026-07-28" };
  it("is verified by the author, and never taken for ours", async () => {
    const seen: string[] = [];
    await using calls = await openLinkedCalls([testTool("ours")], {
      definition: {
        configure: (server) => {
          server.registerTool("theirs", { inputSchema: z.object({}) }, async () => ({
            content: [{ type: "text", text: "theirs ran" }],
          }));
        },
        requestState: { verify: async (state) => void seen.push(state) },
      },
    });
    const send = async (name: string, requestState: unknown) => {
      const [message, headers] = modernCall(name, { requestState });
      return (await calls.send("alice.desk", message, { ...headers, ...version })).text;
    };
    expect(await send("theirs", "v1.of-the-author")).toContain("theirs ran");
    expect(seen).toEqual(["v1.of-the-author"]);
    for (const [name, state] of [
      ["theirs", replayed.state],
      ["theirs", ""],
      ["theirs", 7],
      ["ours", "v1.of-the-author"],
      ["ours", replayed.state],
    ] as const) {
      expect(await send(name, state)).toContain("-32602");
    }
    expect(seen).toHaveLength(1);
  });
});
