/**
 * Runs the command of @modelcontextprotocol/conformance as a process and reads its results: its
 * exit code, its output, and a folder with the checks of every scenario. When it waits for a user
 * at the authorization server, this acts as the user.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { patience } from "../../packages/oauth-core/src/testing/time-limits.ts";
import { visitAsUser } from "../support/mcp/vendor.ts";
import { temporaryFolder } from "../support/service-process.ts";
import { openPlayer } from "./client/player.ts";

const CLIENT = join(import.meta.dirname, "client", "client.ts");
const COMMAND = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));

export type Revision = "2025-11-25" | "2026-07-28";
type Status = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

/** `output`: stdout and stderr, without the lines about progress. `scenarios`: statuses of the checks of each that ran. */
export type SuiteRun = Awaited<ReturnType<typeof run>>;
const LONGEST_MS = patience(8_000);
const LONGEST_CLIENT_MS = patience(12_000);
const CLIENTS_AT_ONCE = 2;
const PROGRESS =
  /^(?:Results saved to|Running client scenario|=== Running scenario|Starting scenario|Executing client|With context|\(node:|\(Use `node)|^$/;

/** @param args as on a command line, without `-o` */
export async function runSuite(...args: readonly string[]): Promise<SuiteRun> {
  return run(args, {}, LONGEST_MS);
}

/**
 * Our client against the suite's servers.
 *
 * @param args as on a command line, without `--command`
 */
export async function runClientSuite(...args: readonly string[]): Promise<SuiteRun> {
  const player = await openPlayer(CLIENTS_AT_ONCE);
  try {
    const command = `"${process.execPath}" "${CLIENT}"`;
    // Most of which is waiting for the others.
    const timeout = ["--timeout", String(LONGEST_CLIENT_MS)];
    const environment = { CONFORMANCE_PLAYER: String(player.port) };
    return await run(["client", "--command", command, ...timeout, ...args], environment, LONGEST_CLIENT_MS);
  } finally {
    player.close();
  }
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>>, timeout: number) {
  const results = temporaryFolder();
  const child = spawn(process.execPath, [COMMAND, ...args, "-o", results], {
    env: {
      PATH: process.env["PATH"],
      // Set by the tests: every scenario is a process.
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      NO_COLOR: "1",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout,
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let output = "";
  let authorizationUrl: string | undefined;
  let isListening = false;
  let visit: Promise<void> | undefined;
  let problem: Error | undefined;
  const tell = (line: string): void => {
    if (!PROGRESS.test(line)) output += `${line}\n`;
  };
  createInterface({ input: child.stderr }).on("line", tell);
  createInterface({ input: child.stdout }).on("line", (line) => {
    tell(line);
    if (args[0] !== "authorization") return;
    if (line.includes("/authorize?")) authorizationUrl = line;
    isListening ||= line.startsWith("Callback server started");
    // It says the address before it listens.
    if (!isListening || authorizationUrl === undefined) return;
    visit ??= visitAsUser(authorizationUrl).catch((error: unknown) => {
      problem = new Error("The user did not get through", { cause: error });
      // Otherwise the suite waits for minutes.
      kill();
    });
  });
  try {
    const [exitCode] = (await once(child, "close")) as [number | null];
    await visit;
    if (problem !== undefined) throw problem;
    return { exitCode, output, scenarios: readResults(results) };
  } finally {
    process.off("exit", kill);
  }
}

/**
 * Folders are called `server-SCENARIO-TIME`, and `SCENARIO-TIME` for clients, whose scenarios may
 * have a `/` in their name.
 */
function readResults(folder: string): ReadonlyMap<string, readonly Status[]> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return new Map(
    paths
      .filter((path) => path.endsWith("checks.json"))
      .map((path) => {
        const name = dirname(path).split(sep).join("/");
        const scenario = name.replace(/^server-(?=.+-\d{4}-)/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, "");
        const checks = JSON.parse(readFileSync(join(folder, path), "utf8")) as { readonly status: Status }[];
        return [scenario, checks.map(({ status }) => status)];
      }),
  );
}

/** @returns the scenarios that apply to a revision, frozen at its release */
export function scoredScenarios(revision: Revision, half: "server" | "client" = "server"): string[] {
  const file = join(COMMAND, "..", "..", "requirements", `${revision}.yaml`);
  const list = new RegExp(`^${half}:\\n((?: {2}- .+\\n)+)`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? "";
  return [...list.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
}

export function baselineOf(revision: Revision): string {
  return join(import.meta.dirname, `baseline-${revision}.yml`);
}
