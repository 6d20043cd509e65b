/** A program of examples/ as its README starts it: its own process, with the sandbox's variables. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../paths.ts";

interface ExampleOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default: the one of the tests. */
  readonly node?: string;
}

const SKIP_TIME_NODE = `process.on("SIGUSR2", () => {
  const now = Date.now;
  Date.now = () => now() + 1_020_000;
  console.log("Time was skipped");
})`;

const SKIP_TIME_PYTHON = `
import runpy, signal, time
def skip(*_):
    now = time.time
    time.time = lambda: now() + 1020
    print("Time was skipped", flush=True)
signal.signal(signal.SIGUSR2, skip)
runpy.run_path("main.py", run_name="__main__")`;

/** @param name of a folder in examples/ */
export function exampleFolder(name: string): string {
  return join(ROOT, "examples", name);
}

/** In all its files, without empty lines and lines that are only a comment. */
export function linesOfCode(name: string): number {
  const folder = exampleFolder(name);
  const files = globSync("{,app/**/}*.{ts,tsx,py}", { cwd: folder, exclude: ["next-env.d.ts"] });
  const lines = files.flatMap((path) => readFileSync(join(folder, path), "utf8").split("\n"));
  return lines.filter((line) => !/^\s*(?:(?:\/\/|\/?\*|#).*)?$/.test(line)).length;
}

export type ExampleProcess = Awaited<ReturnType<typeof startExample>>;
/** @throws Error with its output when it ends before it listens */
export async function startExample(options: ExampleOptions) {
  const { child, output } = spawnExample(options);
  const said = async (text: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = text.exec(output());
      if (found !== null) return found;
      if (child.exitCode !== null) throw new Error(`The example ended with ${child.exitCode}:\n${output()}`);
      await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    }
  };
  const [, url = ""] = await said(/^(?:Open|- Local:) +(\S+)$/m);
  return {
    /** Where it is opened. */
    url,
    /** All that it wrote. */
    output,
    /** From now on its clock is 17 minutes ahead. */
    skipTime: async () => {
      child.kill("SIGUSR2");
      await said(/^Time was skipped$/m);
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** For one that does not start. @returns what it wrote */
export async function endOfExample(options: ExampleOptions) {
  const { child, output } = spawnExample(options);
  const [code] = (await once(child, "close")) as [number];
  return { code, output: output() };
}

function spawnExample({ folder, env, node = process.execPath }: ExampleOptions) {
  const [command, args] = commandOf(folder, node);
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (text += part));
  return { child, output: () => text };
}

/** The start script of its package.json, without npm; in Python its program. */
function commandOf(folder: string, node: string): readonly [command: string, args: readonly string[]] {
  if (existsSync(join(folder, "main.py"))) return [process.env["PYTHON_WITH_AUTHLIB"] ?? "", ["-c", SKIP_TIME_PYTHON]];
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly scripts: { readonly start: string };
  };
  const skipTime = ["--import", `data:text/javascript,${encodeURIComponent(SKIP_TIME_NODE)}`];
  const [command = "", ...args] = scripts.start.split(" ");
  const program = command === "node" ? [] : [join("node_modules", ".bin", command)];
  return [node, [...skipTime, ...program, ...args]];
}
