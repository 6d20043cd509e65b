/**
 * One client through its life at the server: it signs in, is restarted, has its access token ended
 * while it runs and while it does not, and loses the user's grant at the vendor.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "../support/service-process.ts";
import { type Client, type Step, STEPS } from "./list.ts";
import { openStage, type Stage } from "./stage.ts";

/** `no`: the client cannot be driven to it, and `note` says why. */
export interface Outcome {
  readonly result: "yes" | "failed" | "no";
  readonly note?: string;
}

export interface Row extends Pick<Client, "title" | "version" | "language"> {
  readonly outcomes: Readonly<Record<Step, Outcome>>;
}

/** A line of a client's program. */
interface Line {
  readonly tools?: readonly string[];
  readonly text?: string;
  readonly isError?: boolean;
  readonly failed?: string;
}

/** A native client that is started on a busy machine takes seconds. */
const LINE_MS = 60_000;
/** What one sign-in or refusal may cost; a client that loops is above it at once. */
const MOST_REQUESTS = 60;

/** @param folder of the installed clients */
export async function runClient(client: Client, folder: string): Promise<Row> {
  const home = temporaryFolder();
  mkdirSync(join(home, "kept"));
  const stage = await openStage(home);
  const running = new Set<Running>();
  const start = async (hours = 0): Promise<Running> => {
    const one = startProgram(client, folder, home, stage, hours);
    running.add(one);
    return one;
  };
  try {
    const { title, version, language, limits = {} } = client;
    const outcomes = await live(stage, start);
    for (const step of STEPS) outcomes[step] = excused(outcomes[step], limits[step]);
    return { title, version, language, outcomes };
  } finally {
    for (const one of running) await one.end();
    await stage.close();
  }
}

async function live(stage: Stage, start: (hours?: number) => Promise<Running>): Promise<Record<Step, Outcome>> {
  const skipped: Outcome = { result: "no", note: "not reached" };
  const outcomes = Object.fromEntries(STEPS.map((step) => [step, skipped])) as Record<Step, Outcome>;
  let client = await start();
  outcomes.login = worked(await client.next(), stage.opened() === 1);
  if (outcomes.login.result !== "yes") return outcomes;
  await stage.hourLater();
  outcomes.refresh = worked(await client.again("later"), stage.opened() === 1);
  await client.end();
  const signedIn = stage.opened();
  client = await start(1);
  outcomes.restart = worked(await client.next(), stage.opened() === signedIn);
  await client.end();
  await stage.hourLater();
  const before = stage.opened();
  client = await start(2);
  const line = await client.next();
  outcomes["an hour later"] = worked(line, stage.opened() === before);
  // What a program that gave up would do about a revoked grant is not seen.
  outcomes.revoked = line.failed === undefined ? await revoke(stage, client) : skipped;
  return outcomes;
}

/** @param limit that the client set, which it must still have */
export function excused(outcome: Outcome, limit: string | undefined): Outcome {
  if (limit === undefined) return outcome;
  if (outcome.result === "yes") return { result: "failed", note: `works now, though listed: ${limit}` };
  return { result: "no", note: limit };
}

function worked(line: Line, isSilent: boolean): Outcome {
  if (line.failed !== undefined) return { result: "failed", note: line.failed };
  if (line.isError === true || !(line.text ?? "").includes("sample-user")) {
    return { result: "failed", note: line.text ?? "no answer" };
  }
  if (line.tools !== undefined && !line.tools.includes("whoami"))
    return { result: "failed", note: "whoami is not listed" };
  return isSilent ? { result: "yes" } : { result: "failed", note: "sends its user to the browser again" };
}

/** The tool says so first, then 401 and invalid_grant: a client stops, and asks its user. */
async function revoke(stage: Stage, client: Running): Promise<Outcome> {
  const [opened, requests] = [stage.opened(), stage.requests()];
  stage.revoke();
  let last = await client.again();
  const isStopped = (): boolean => last.failed !== undefined || last.isError === true;
  if (isStopped() && stage.opened() === opened) last = await client.again();
  // The command that opens the browser is a process.
  for (let tries = 0; tries < 20 && stage.opened() === opened; tries += 1) await sleep(100);
  const spent = stage.requests() - requests;
  if (spent > MOST_REQUESTS) return { result: "failed", note: `${spent} requests` };
  if (stage.opened() > opened) return { result: "yes", note: "asks its user again" };
  const said = last.failed ?? last.text ?? "";
  return isStopped() ? { result: "yes", note: `stops: ${said}` } : { result: "failed", note: `goes on: ${said}` };
}

/** The client's program, which prints a line at its start and for each line it gets. */
type Running = ReturnType<typeof startProgram>;
function startProgram(
  { command: [command = "", ...args] }: Client,
  folder: string,
  home: string,
  stage: Stage,
  hours: number,
) {
  const child = spawn(command, [...args, stage.mcp, join(home, "kept")], {
    cwd: folder,
    env: {
      ...stage.browser,
      PATH: `${stage.browser.PATH}:${join(folder, "node_modules", ".bin")}`,
      HOME: home,
      HOURS_LATER: String(hours),
      NODE_OPTIONS: `--import=${join(folder, "clock.mjs")}`,
      NO_PROXY: "127.0.0.1,localhost",
    },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  // A program that has ended is noticed by `next`.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  const next = async (): Promise<Line> => {
    const read = await Promise.race([lines.next(), sleep(LINE_MS, undefined, { ref: false })]);
    if (read === undefined) return { failed: `no answer in ${LINE_MS / 1000} s ${errors}`.trim() };
    if (read.done === true) return { failed: `ended: ${errors.trim()}` };
    try {
      return JSON.parse(read.value) as Line;
    } catch {
      // A library that prints something itself.
      return next();
    }
  };
  return {
    next,
    again: async (when: "now" | "later" = "now"): Promise<Line> => {
      child.stdin.write(`${when}\n`);
      return next();
    },
    /** With the processes it started. */
    end: async (): Promise<void> => {
      child.stdin.end();
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      await Promise.race([once(child, "exit"), sleep(3_000, undefined, { ref: false })]);
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // All of them have ended.
      }
    },
  };
}
