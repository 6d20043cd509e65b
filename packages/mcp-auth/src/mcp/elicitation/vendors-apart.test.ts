/** A tool of several vendors: each is sent its own token, at its own hosts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LinkedCalls, openLinkedCalls } from "../../testing/linking/linked-calls.ts";
import { modernCall } from "../../testing/linking/raw-calls.ts";
import { openFetching } from "../../testing/linking/replayed-state.ts";
import { testTool } from "../../testing/test-tool.ts";

const me = testTool("me", {
  vendor: "sign_in",
  scopes: [],
  run: async (_, { vendor, vendors, user }) => ({ id: vendor.id, same: vendor === vendors.sign_in, user }),
});

describe("bar#LK-10 the vendors of a call", () => {
  let calls: LinkedCalls;
  let run: Awaited<ReturnType<typeof openFetching>>["run"];
  beforeEach(async () => {
    ({ calls, run } = await openFetching());
  });
  afterEach(() => calls.close());

  it("are each sent their own token of the calling user, at their own hosts", async () => {
    for (const user of ["alice", "bob"]) {
      for (const id of ["github", "slack"]) {
        const text = await run(`${user}.desk`, id, `https://api.${id}.example/x`);
        expect(text).toBe(`${id} The ${id} {"token":"${id}-token-of-${user}"}`);
      }
    }
    expect(calls.sent).toHaveLength(4);
  });

  it("are sent nothing at each other's hosts, authorization servers included", async () => {
    for (const [as, other] of [
      ["github", "slack"],
      ["slack", "github"],
      ["slack", "google"],
    ] as const) {
      for (const host of [`api.${other}.example`, `${other}.example`]) {
        expect(await run("alice.desk", as, `https://${host}/x`)).toContain(`is not a host of The ${as}`);
      }
    }
    expect(calls.sent).toEqual([]);
  });

  it("bar#RS-8 are never crossed, by two users with two vendors at once", async () => {
    const kinds = ["alice", "bob"].flatMap((user) => ["github", "slack"].map((id) => ({ user, id })));
    const texts = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        const { user, id } = kinds[index % kinds.length] ?? { user: "", id: "" };
        const text = await run(`${user}.desk`, id, `https://api.${id}.example/x`);
        return text === `${id} The ${id} {"token":"${id}-token-of-${user}"}`;
      }),
    );
    expect(texts).not.toContain(false);
  });

  it("are logged by id", async () => {
    await run("alice.desk", "github", "https://api.github.example/x");
    expect(calls.lines.join("")).toContain('"tool":"fetch","vendor":"github,slack","client_id":"desk"');
    expect(calls.lines.join("")).not.toContain("-token-of-");
  });
});

it("the vendor that signs users in can be named without its id", async () => {
  await using calls = await openLinkedCalls([me]);
  calls.setLink("alice", "github", {});
  const { body } = await calls.send("alice.desk", ...modernCall("me"));
  expect(JSON.parse(body.result.content[0].text)).toEqual({ id: "github", same: true, user: "alice" });
});
