/** A tool of several vendors: each is sent its own token, at its own hosts. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { modernCall, openLinkedCalls } from "../../testing/linked-calls.ts";
import { defineTool, type ToolContext } from "../../tool.ts";
import type * as VendorApi from "../vendor-api.ts";

/** Fetches `url` as the vendor it is given. */
const tool = defineTool({
  name: "fetch",
  description: "f",
  input: z.object({ as: z.enum(["github", "slack", "sign_in"]), url: z.string() }),
  vendors: { github: { scopes: [] }, slack: { scopes: [] } },
  run: async ({ as, url }, { vendors }: ToolContext) => {
    const answer = await vendors[as]?.fetch(url);
    return `${vendors[as]?.id} ${vendors[as]?.name} ${await answer?.text()}`;
  },
});
const me = defineTool({
  name: "me",
  description: "m",
  input: z.object({}),
  vendor: "sign_in",
  scopes: [],
  run: async (_, { vendor, vendors, user }) => ({ id: vendor.id, same: vendor === vendors.sign_in, user }),
});

async function open(createEndpoint?: typeof import("../endpoint.ts").createMcpEndpoint) {
  const calls = await openLinkedCalls([tool, me], createEndpoint && { createEndpoint });
  for (const user of ["alice", "bob"]) for (const id of ["github", "slack"] as const) calls.setLink(user, id, {});
  const run = async (bearer: string, as: string, url: string): Promise<string> => {
    const { body } = await calls.send(bearer, ...modernCall("fetch", { arguments: { as, url } }));
    return body.result.content[0].text as string;
  };
  return { calls, run };
}

afterEach(() => {
  vi.doUnmock("../vendor-api.ts");
  vi.resetModules();
});

describe("the vendors of a call", () => {
  it("are each sent their own token of the calling user, at their own hosts", async () => {
    const { calls, run } = await open();
    for (const user of ["alice", "bob"]) {
      for (const id of ["github", "slack"]) {
        const text = await run(`${user}.desk`, id, `https://api.${id}.example/x`);
        expect(text).toBe(`${id} The ${id} {"token":"${id}-token-of-${user}"}`);
      }
    }
    expect(calls.sent).toHaveLength(4);
    await calls.close();
  });

  it("are sent nothing at each other's hosts, authorization servers included", async () => {
    const { calls, run } = await open();
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
    await calls.close();
  });

  it("are logged by id", async () => {
    const { calls, run } = await open();
    await run("alice.desk", "github", "https://api.github.example/x");
    expect(calls.lines.join("")).toContain('"tool":"fetch","vendor":"github,slack","client_id":"desk"');
    expect(calls.lines.join("")).not.toContain("-token-of-");
    await calls.close();
  });
});

it("the vendor that signs users in can be named without its id", async () => {
  const { calls } = await open();
  const { body } = await calls.send("alice.desk", ...modernCall("me"));
  expect(JSON.parse(body.result.content[0].text)).toEqual({ id: "github", same: true, user: "alice" });
  await calls.close();
});

it("where the hosts of all vendors are one list, a tool sends one vendor's token to another (twin)", async () => {
  vi.resetModules();
  vi.doMock("../vendor-api.ts", async (original) => {
    const actual = await original<typeof VendorApi>();
    const createVendorApi: typeof actual.createVendorApi = (caller, signal, deps) =>
      actual.createVendorApi(caller, signal, { ...deps, apiHosts: ["api.github.example", "api.slack.example"] });
    return { ...actual, createVendorApi };
  });
  const { calls, run } = await open((await import("../endpoint.ts")).createMcpEndpoint);
  expect(await run("alice.desk", "slack", "https://api.github.example/x")).toContain("slack-token-of-alice");
  await calls.close();
});
