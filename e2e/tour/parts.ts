/**
 * The processes of the tour. Each runs under a keeper (keeper.ts), so that it ends with the tour,
 * even if that is killed; its output is kept, in case it ends by itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface PartCommand {
  /** For messages, e.g. `the broker`. */
  readonly name: string;
  /** The file that Node runs, and its arguments. */
  readonly args: readonly string[];
  readonly folder: string;
  /** In addition to PATH and the cache of compiled files; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Part {
  /**
   * The first `url` that it printed in a JSON line.
   * @throws Error with its last lines when it ends, or prints none, before
   */
  readonly url: Promise<string>;
  /** Settles when it has ended, with the exit code. */
  readonly ended: Promise<number>;
  /** The end of its output, on both streams. */
  lastLines(): string;
  /** Stops it and all processes it started. */
  stop(): Promise<void>;
}

const START_MS = 60_000;
const KEPT_LINES = 20;

export function startPart({ name, args, folder, env = {} }: PartCommand): Part {
  const keeper = [join(import.meta.dirname, "keeper.ts"), ["exec", process.execPath, ...args].map(quoted).join(" ")];
  const child = spawn(process.execPath, keeper, {
    cwd: folder,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const url = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      lines.splice(0, lines.length - KEPT_LINES);
      const said = stream === child.stdout ? urlIn(line) : undefined;
      if (said !== undefined) url.resolve(said);
    });
  }
  const ended = exitOf(child);
  const lastLines = (): string => lines.map((line) => `    ${line}`).join("\n");
  const fail = (what: string): void => url.reject(new Error(`${sentence(name)} ${what}:\n${lastLines()}`));
  const deadline = setTimeout(() => fail(`was silent for ${START_MS / 1000} s`), START_MS);
  void ended.then((code) => fail(`ended with ${code}`)).finally(() => clearTimeout(deadline));
  // A caller that does not wait for the address must not get its rejection.
  url.promise.then(
    () => clearTimeout(deadline),
    () => undefined,
  );
  return {
    url: url.promise,
    ended,
    lastLines,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

async function exitOf(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}

function urlIn(line: string): string | undefined {
  try {
    const said = JSON.parse(line) as { readonly url?: unknown } | null;
    return typeof said?.url === "string" ? said.url : undefined;
  } catch {
    return undefined;
  }
}

/** For the shell; `exec` needs none, and none hurts. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
