/**
 * `npm run dev` of a server: its practice vendors, the environment of service.yaml adapted to this
 * machine, and main.ts unchanged, restarted when a file changes.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Output } from "@oauth-broker/oauth-core/command-line";
import { splitList } from "@oauth-broker/service/configuration";
import { type Environment, loadSettings, UNDER_DEV } from "../config.ts";
import { type Desk, deskEnvironment } from "./environment.ts";
import { nextSteps } from "./next-steps.ts";
import { type PracticeVendor, startPracticeVendors } from "./practice-vendor.ts";
import { ownWarnings } from "./own-warnings.ts";
import { parseServiceFile } from "./service-file.ts";
import { fetchTestToken } from "./test-token.ts";

const MAIN = join("src", "main.ts");
const FOLLOW_PARENT_MS = 250;

/**
 * Runs until a signal, or until the server ends by itself.
 *
 * @returns the exit code
 * @throws Error, ConfigError: for the author
 */
export async function runDev(environment: Environment, { print, say }: Output): Promise<number> {
  const service = parseServiceFile(readServiceFile(), environment);
  // Node's watcher would exit with 0.
  if (!existsSync(MAIN)) throw new Error(`There is no ${MAIN} here, which is what dev runs`);
  const given = { ...service.environment, ...environment };
  const desk = deskEnvironment(given);
  const { url, mode, redirectUri } = desk;
  const vendor = await startPracticeVendors(given, { redirectUri, homeUrl: url, name: service.name });
  const own = { ...given, ...desk.environment, ...vendor.environment };
  try {
    // Checked here already, so that problems are reported once and not at every restart.
    loadSettings(own);
    const token = await tokenOfPracticeUser(own, desk, vendor).catch((error: unknown) => {
      say(`No token of a practice user: ${error instanceof Error ? error.message : "the vendor refused"}`);
      return undefined;
    });
    const greeting = nextSteps({
      name: service.name,
      url,
      mode,
      about: vendor.about,
      token,
      isLinking: splitList(given["VENDORS"]).length > 0,
    });
    const isOwnWarning = ownWarnings(given, { desk: desk.environment, vendor: vendor.environment });
    return await runWatched(
      own,
      (line) => (isOwnWarning(line) ? undefined : print(line)),
      () => say(greeting),
    );
  } finally {
    await vendor.close();
  }
}

/** In hosted mode the server is a client of the vendor; in pre-registered mode the platform is. */
async function tokenOfPracticeUser(
  own: Environment,
  { mode, redirectUri }: Pick<Desk, "mode" | "redirectUri">,
  { app }: Pick<PracticeVendor, "app">,
): Promise<string | undefined> {
  if (mode !== "pre-registered" || app === undefined) return undefined;
  return fetchTestToken(loadSettings({ ...own, ...app, OAUTH_MODE: "hosted" }).vendor, redirectUri);
}

function readServiceFile(): string {
  try {
    return readFileSync("service.yaml", "utf8");
  } catch (cause) {
    throw new Error("There is no service.yaml here: run this where package.json is", { cause });
  }
}

/** @param greet called once, when it listens for the first time */
async function runWatched(environment: Environment, print: (line: string) => void, greet: () => void): Promise<number> {
  const child = spawn(process.execPath, ["--watch", "--watch-preserve-output", MAIN], {
    env: { ...environment, [UNDER_DEV]: "true" },
    stdio: ["inherit", "pipe", "inherit"],
  });
  let greeted = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    print(line);
    if (greeted || !line.includes('"url"')) return;
    greeted = true;
    greet();
  });
  const end = (): void => void child.kill("SIGTERM");
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, end);
  // Also when nothing reads what this process prints.
  process.on("exit", end);
  // npm ends only its own shell, so this process stops itself too.
  const parent = process.ppid;
  const follow = setInterval(() => (process.ppid === parent ? undefined : end()), FOLLOW_PARENT_MS);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    // SIGTERM is how this process ends it; any other signal is a crash.
    return code ?? (signal === "SIGTERM" ? 0 : 1);
  } finally {
    clearInterval(follow);
    for (const signal of signals) process.off(signal, end);
    process.off("exit", end);
  }
}
