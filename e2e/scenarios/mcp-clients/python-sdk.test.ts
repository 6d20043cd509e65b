/**
 * The official Python SDK signs in unmodified: versions that ask for a client secret whatever our
 * metadata says, and the newest. `npm run test:mcp-python` installs them and runs this file with
 * each; without them only the locks are checked.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { startServerCallback } from "../../support/mcp/server-callback.ts";
import { consent } from "../../support/mcp/vendor.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const FOLDER = join(import.meta.dirname, "..", "..", "support", "mcp", "python-sdk");
const CALLBACK = "http://localhost:3030/callback";
/** By version of the SDK: the interpreter that has it. */
const installed = JSON.parse(process.env["PYTHON_WITH_MCP"] ?? "{}") as Readonly<Record<string, string>>;
const versions = readdirSync(FOLDER).flatMap((name) => /^requirements-(.+)\.txt$/.exec(name)?.slice(1) ?? []);

it("each version is locked, with all that it needs", () => {
  expect(versions.toSorted()).toEqual(["1.12.4", "1.22.0", "1.30.0", "2.3.0"]);
  for (const version of versions) {
    const lines = readFileSync(join(FOLDER, `requirements-${version}.txt`), "utf8")
      .trim()
      .split("\n");
    expect(lines).toContain(`mcp==${version}`);
    for (const line of lines) expect(line).toMatch(/^[\w.-]+==[\w.]+$/);
  }
});

describe.each(Object.entries(installed))("mcp %s", (version, python) => {
  const harness = shared(() => startServerCallback(() => ({ OAUTH_DYNAMIC_REGISTRATION: "open" })));

  it("registers, signs its user in, and calls a tool", async () => {
    const said = await connect(python, harness.server.mcp);
    expect(said).toMatchObject({ registered: "none", tools: expect.arrayContaining(["whoami"]) });
    expect(JSON.parse(said.answer)).toHaveProperty("sub");
    // What the SDK asks for of itself, so that the test says which of them would have been refused.
    if (version.startsWith("1.12") || version.startsWith("1.22")) expect(said.asked).toBe("client_secret_post");
  });
});

interface Said {
  readonly tools: readonly string[];
  readonly answer: string;
  readonly asked: string | null;
  readonly registered: string;
}

async function connect(python: string, server: string): Promise<Said> {
  const child = spawn(python, [join(FOLDER, "client.py"), server, CALLBACK], { stdio: ["pipe", "pipe", "pipe"] });
  const errors: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => void errors.push(chunk.toString()));
  const exited = once(child, "exit");
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("DONE ")) return JSON.parse(line.slice("DONE ".length)) as Said;
      if (!line.startsWith("OPEN ")) continue;
      const stopAt = ({ href }: URL): boolean => href.startsWith(CALLBACK);
      const back = await consent(new URL(line.slice("OPEN ".length)), { account: "user", stopAt });
      child.stdin.write(`${back.href}\n`);
    }
    throw new Error(`the client ended without an answer:\n${errors.join("").slice(-2_000)}`);
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
}
