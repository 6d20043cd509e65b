/**
 * The agent of examples/, as its README starts it, on a broker in its sandbox: a user connects GitHub
 * and Slack, a model that follows a script asks for both tools, and what the model was sent is read.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { listen, shared } from "@oauth-broker/oauth-core/testing";
import { createCookieJar, driveConsent } from "@oauth-broker/simulators";
import { expect, it } from "vitest";
import { startInProcessSandbox } from "../../support/broker/sandbox.ts";
import { freePort } from "../../support/free-port.ts";
import { exampleFolder } from "../../support/packages/example-process.ts";
import { findSecrets } from "../../support/secrets.ts";

const FOLDER = exampleFolder("ai-sdk-agent");
const ENVIRONMENT = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
const ANSWER = "You are sample-user, and the channel knows.";

const broker = shared(async () => {
  const port = String(await freePort());
  const redirectUris = [`http://127.0.0.1:${port}/oauth/callback`];
  const client = { id: "agent", secret: "a-secret-that-is-long-enough-for-the-sandbox", redirectUris };
  return { ...(await startInProcessSandbox({ client })), port };
});
/** What the model was sent. */
const asked: string[] = [];
const model = shared(() => {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(await text(request));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(replyTo(asked.length)));
  };
  return listen(createServer((request, response) => void respond(request, response)));
});

/** Both tools, one after the other, then the answer. */
function replyTo(turn: number): object {
  const call = (name: string, args: object): object => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id: `call-${turn}`, type: "function", function: { name, arguments: JSON.stringify(args) } }],
  });
  const messages = [
    call("readGitHubAccount", {}),
    call("postToSlack", { channel: "C1", text: "sample-user is here" }),
    { role: "assistant", content: ANSWER },
  ];
  const message = messages[turn - 1];
  const finish_reason = turn === messages.length ? "stop" : "tool_calls";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return {
    id: `reply-${turn}`,
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason }],
    usage,
  };
}

it("acts at both vendors for its user, and the model sees no token", async () => {
  const child = spawn(process.execPath, ["main.ts", "Who am I?"], {
    cwd: FOLDER,
    env: {
      ...ENVIRONMENT,
      ...broker.settings,
      PORT: broker.port,
      MODEL_URL: `http://127.0.0.1:${model.port}/v1`,
      MODEL: "m",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (output += part));
  const ended = once(child, "exit");
  for (const vendor of ["github", "slack"]) {
    await expect.poll(() => output).toMatch(new RegExp(`^Connect ${vendor}: \\S+$`, "m"));
    const start = new RegExp(`^Connect ${vendor}: (\\S+)$`, "m").exec(output)?.[1] ?? "";
    const callback = await driveConsent(start, {
      cookieJar: createCookieJar(),
      decision: "approve",
      stopAt: (at) => at.port === broker.port,
    });
    const other = new URL(callback);
    other.searchParams.set("state", "of-someone-else");
    expect((await fetch(other)).status).toBe(404);
    expect((await fetch(callback)).status).toBe(200);
  }
  expect(await ended, output).toEqual([0, null]);
  expect(output).toContain(ANSWER);
  expect(asked).toHaveLength(3);
  // Each tool's own answer went back to the model.
  expect(asked[1]).toContain("sample-user");
  expect(asked[2]).toContain(String.raw`\"ok\":true`);
  const all = [...asked, output].join("\n");
  expect(findSecrets(all)).toEqual([]);
  expect(all).not.toMatch(/gh[ours]_\w|xox[a-z]|codeVerifier/);
}, 90_000);

it("says all at once what is missing, and has less than 120 lines", async () => {
  const child = spawn(process.execPath, ["main.ts"], { cwd: FOLDER, env: ENVIRONMENT });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(code).toBe(1);
  expect(said).toContain("Set BROKER_URL, BROKER_CLIENT_ID, BROKER_CLIENT_SECRET, MODEL_URL, MODEL");
  expect(readFileSync(join(FOLDER, "main.ts"), "utf8").split("\n").length).toBeLessThan(120);
});
