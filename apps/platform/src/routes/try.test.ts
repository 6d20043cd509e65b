import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_ROUNDS } from "../agent/pending-calls.ts";
import { type AskingEra, type AskingServer, type Script, startAskingServer } from "../testing/asking-server.ts";
import { openTestPlatform, type Visitor } from "../testing/test-visitor.ts";

const PATH = "/connectors/asking/try";
const GITHUB = "https://server.example/connect/for-github";
const SLACK = "https://server.example/connect/for-slack";
const NONE = { authentication: "none", registration: "none" } as const;

let server: AskingServer;

const test = ofEachTest(openTestPlatform);
const user = ofEachTest(() => test.visitor());
beforeEach(async () => {
  await user.signIn("first-user");
});
afterEach(async () => {
  await server.close();
});

async function serve(era: AskingEra, script: Script): Promise<void> {
  server = await startAskingServer(era, script);
  await test.desk.addConnector("asking", NONE, server.url);
}

const call = async (): Promise<string> =>
  (await user.submit(PATH, PATH, { tool: "post", input: '{"text":"a <b>"}' })).text();
const field = (page: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? "";
const fieldsOf = (page: string, answer: string): Record<string, string> => ({
  csrf:
    new RegExp(`action="${PATH}/answer">\\s*<input type="hidden" name="csrf" value="([^"]+)"`).exec(page)?.[1] ?? "",
  call: field(page, "call"),
  answer,
});
const reply = async (page: string, answer: string, visitor = user): Promise<{ status: number; html: string }> => {
  const got = await visitor.post(`${PATH}/answer`, fieldsOf(page, answer));
  return { status: got.status, html: await got.text() };
};

describe.each(["2026-07-28", "2025-11-25"] as const)("a server that asks, %s", (era) => {
  it("mcp-2026-07-28/elicitation#safe-url-handling shows URLs and lets only the user open them", async () => {
    await serve(era, (_, count) => (count === 1 ? { github: GITHUB } : undefined));
    expect(await (await user.get("/connectors/asking")).text()).toContain("This server needs no sign-in");
    const page = await call();
    expect(page).toContain(`<a href="${GITHUB}" target="_blank" rel="noopener noreferrer">`);
    for (const shown of [
      "post</code> is waiting for you",
      "Connector asking asks",
      "Link your account at github",
      "<dd>server.example</dd>",
    ]) {
      expect(page).toContain(shown);
    }
    expect(page).toContain("{&quot;text&quot;:&quot;a &lt;b&gt;&quot;}");
    expect(page).not.toMatch(/state of round|<script|http-equiv|onload/);
    expect(server.calls).toHaveLength(1);
    const { html } = await reply(page, "accept");
    expect(html).toContain("Posted after 2 calls");
    expect(html).not.toContain("is waiting for you");
  });

  it("may ask again: the user sees the same page again", async () => {
    await serve(era, (_, count) => (count < 3 ? { github: GITHUB } : undefined));
    const again = await reply(await call(), "accept");
    expect(again.html).toContain(GITHUB);
    expect((await reply(again.html, "accept")).html).toContain("Posted after 3 calls");
  });

  it("may ask for several, of which the page offers the good ones", async () => {
    await serve(era, () => ({ github: GITHUB, bad: "http://server.example/connect/plain", slack: SLACK }));
    const page = await call();
    expect(page.match(/<a href="[^"]+" target="_blank"/g)).toHaveLength(2);
    expect(page).not.toContain("connect/plain");
    expect(page).toContain("Not offered: it is not https");
  });

  it("cannot be answered twice, from another browser, or after the call's time", async () => {
    await serve(era, () => ({ github: GITHUB }));
    const page = await call();
    const other = test.visitor();
    await other.signIn("second-user");
    expect((await reply(page, "accept", other)).status).toBe(403);
    const foreign = {
      ...fieldsOf(page, "accept"),
      csrf: fieldsOf(await (await otherPage(other)).text(), "").csrf ?? "",
    };
    expect((await other.post(`${PATH}/answer`, foreign)).status).toBe(400);
    expect(server.calls).toHaveLength(2);
    const both = await Promise.all([reply(page, "accept"), reply(page, "accept")]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect(server.calls).toHaveLength(3);
    test.desk.advance(15 * 60);
    const late = both.find(({ status }) => status === 200)?.html ?? "";
    const over = await reply(late, "accept");
    expect([over.status, over.html]).toEqual([
      400,
      expect.stringMatching(/<h1>This was not done[^]*This call is over/),
    ]);
    expect(server.calls).toHaveLength(3);
  });

  it("is asked no further when it asks without end", async () => {
    await serve(era, () => ({ github: GITHUB }));
    let page = await call();
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      // Each answer comes from the page before it.
      // oxlint-disable-next-line no-await-in-loop
      page = (await reply(page, "accept")).html;
    }
    expect(page).toContain("asks again and again");
    expect(page).not.toContain("is waiting for you");
    expect(server.calls).toHaveLength(MAX_ROUNDS + 1);
  });
});

/** Another user's own question of the same server. */
const otherPage = (other: Visitor): Promise<Response> => other.submit(PATH, PATH, { tool: "post", input: "{}" });

describe("the answer of the user", () => {
  it("goes to a server of 2026-07-28 with its state, and takes back what was not offered", async () => {
    await serve("2026-07-28", (_, count) => (count === 1 ? { github: GITHUB, bad: "data:text/html,x" } : undefined));
    await reply(await call(), "accept");
    expect(server.calls[1]).toEqual({
      responses: { github: { action: "accept" }, bad: { action: "cancel" } },
      state: "state of round 1",
    });
  });

  it.each(["decline", "cancel"])("%s reaches a server of 2026-07-28", async (answer) => {
    await serve("2026-07-28", (_, count) => (count === 1 ? { github: GITHUB } : undefined));
    expect((await reply(await call(), answer)).html).toContain("Posted after 2 calls");
    expect(server.calls[1]?.responses).toEqual({ github: { action: answer } });
  });

  it.each(["decline", "cancel"])("%s calls no server of 2025-11-25", async (answer) => {
    await serve("2025-11-25", () => ({ github: GITHUB }));
    expect((await reply(await call(), answer)).html).toContain("The tool was not called");
    expect(server.calls).toHaveLength(1);
  });

  it("is none where no URL is offered: only decline and cancel are left", async () => {
    await serve("2026-07-28", () => ({ bad: "javascript:alert(1)", worse: "https://github.com@server.example/" }));
    const page = await call();
    expect(page).not.toMatch(/href="javascript|Try again|target="_blank"/);
    expect(page).toContain("Not offered: it has user information");
    expect(page).toContain(">Decline</button>");
  });

  it("is one of three", async () => {
    await serve("2026-07-28", () => ({ github: GITHUB }));
    expect((await reply(await call(), "yes")).status).toBe(400);
    expect(server.calls).toHaveLength(1);
  });
});

it("mcp-2026-07-28/elicitation#safe-url-handling fetches no URL and marks hosts", async () => {
  const opened: unknown[] = [];
  const bait = await startAskingServer("2026-07-28", () => undefined);
  await serve("2026-07-28", (_, count) =>
    count < 3 ? { bait: bait.url, looksLike: "https://xn--80ak6aa92e.com/connect" } : undefined,
  );
  const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
    opened.push(url);
    return new Response();
  });
  const page = await call();
  expect(page).toContain("written in Punycode");
  await reply((await reply(page, "accept")).html, "accept");
  expect([opened, bait.calls]).toEqual([[], []]);
  fetched.mockRestore();
  await bait.close();
});

it("a waiting call lies sealed, and its state leaves the platform to the server alone", async () => {
  await serve("2026-07-28", (_, count) => (count === 1 ? { github: GITHUB } : undefined));
  const page = await call();
  for (const secret of ["state of round 1", "for-github", "a <b>"])
    expect(test.desk.folderText()).not.toContain(secret);
  await reply(page, "accept");
  for (const secret of ["state of round 1", "for-github"]) expect(test.log.join("")).not.toContain(secret);
});
