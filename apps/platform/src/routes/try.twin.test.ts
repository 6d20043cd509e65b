/**
 * Twin of try.test.ts: without the check of a server's URLs the page offers what the server sends,
 * and the answer accepts it.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as questions from "../agent/link-question.ts";
import { startAskingServer } from "../testing/asking-server.ts";
import { openTestPlatform } from "../testing/test-visitor.ts";

const PATH = "/connectors/asking/try";
const SCRIPT = "javascript:alert(1)";

it("without the check of the URL, a script of the server is one click away", async () => {
  weaken(questions, ({ askedInResult }) => ({
    askedInResult: (...result) => {
      const asked = askedInResult(...result);
      const offered = { href: SCRIPT, host: "server.example", isMarked: false };
      return { ...asked, questions: asked.questions.map((question) => ({ ...question, url: offered })) };
    },
  }));
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
