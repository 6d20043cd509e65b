/**
 * Twin of try.test.ts: without the check of a server's URLs the page offers what the server sends,
 * and the answer accepts it.
 */
import { afterAll, expect, it, vi } from "vitest";
import { startAskingServer } from "../testing/asking-server.ts";
import { openTestPlatform } from "../testing/test-visitor.ts";

const PATH = "/connectors/asking/try";
const { SCRIPT } = vi.hoisted(() => ({ SCRIPT: "javascript:alert(1)" }));

vi.mock("../agent/link-question.ts", async (importActual) => {
  const actual = await importActual<typeof import("../agent/link-question.ts")>();
  const offered = { href: SCRIPT, host: "server.example", isMarked: false };
  return {
    ...actual,
    askedInResult: (...result: Parameters<typeof actual.askedInResult>) => {
      const asked = actual.askedInResult(...result);
      return { ...asked, questions: asked.questions.map((question) => ({ ...question, url: offered })) };
    },
  };
});
afterAll(() => vi.doUnmock("../agent/link-question.ts"));

it("without the check of the URL, a script of the server is one click away", async () => {
  const test = await openTestPlatform();
  const server = await startAskingServer("2026-07-28", () => ({ github: SCRIPT }));
  await test.desk.addConnector("asking", { authentication: "none", registration: "none" }, server.url);
  const user = test.visitor();
  await user.signIn("first-user");
  const page = await (await user.submit(PATH, PATH, { tool: "post", input: "{}" })).text();
  expect(page).toContain(`<a href="${SCRIPT}"`);
  await server.close();
  await test.close();
});
