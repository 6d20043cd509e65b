/**
 * `npm run clients`: installs the clients, then starts itself again in a network namespace that has
 * loopback and no route, and runs one after the other. Opt-in: it needs Linux, Go, Python 3.11,
 * and the registries of npm, Go and PyPI once. Exits with 1 when a client fails that has no excuse.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/paths.ts";
import { readProgram, runProgram, say } from "../support/program.ts";
import { buildServer } from "../support/setup/built-services.ts";
import { CLIENTS_FOLDER, installClients, pythonOf } from "./install.ts";
import { allClients, type Client, STEPS } from "./list.ts";
import { report } from "./report.ts";
import { type Row, runClient } from "./run.ts";

const PAGE: string = join(ROOT, "docs", "clients.md");
const HELP = `Usage: npm run clients [-- CLIENT …]

Runs shipping MCP clients, unmodified, against the scaffold's server without a network, and writes
docs/clients.md. With names only those, and the table is printed.

  --list           the names
  -h, --help       this text
  -v, --version    the version
`;
/** Set for the process in the namespace. */
const INSIDE = "CLIENTS_WITHOUT_NETWORK";

const given = readProgram(
  { list: { type: "boolean", default: false } },
  { program: "npm run clients --", help: HELP, words: true },
  ({ values, words }) => ({ ...values, chosen: choose(words) }),
);
if (given?.list === true) process.stdout.write(`${given.chosen.map(({ id }) => id).join("\n")}\n`);
else if (given !== undefined)
  await runProgram(() => (process.env[INSIDE] === undefined ? outside() : inside(given.chosen)));

/** @throws Error with a sentence for the user */
function choose(words: readonly string[]): readonly Client[] {
  const all = allClients(pythonOf);
  const unknown = words.find((word) => !all.some(({ id }) => id === word));
  if (unknown !== undefined) throw new Error(`no client is called '${unknown}'; --list prints the names`);
  return words.length === 0 ? all : all.filter(({ id }) => words.includes(id));
}

async function outside(): Promise<void> {
  installClients(say);
  buildServer();
  const own = [process.execPath, import.meta.filename, ...process.argv.slice(2)];
  const { status } = spawnSync("unshare", ["-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...own], {
    stdio: "inherit",
    env: { ...process.env, [INSIDE]: "1" },
  });
  if (status === null) throw new Error("Not run: `unshare` and `ip` of Linux are needed");
  process.exitCode = status;
}

async function inside(clients: readonly Client[]): Promise<void> {
  const rows: Row[] = [];
  for (const [index, client] of clients.entries()) {
    say(`${client.id} (${index + 1} of ${clients.length})`);
    const row = await runClient(client, CLIENTS_FOLDER);
    for (const step of STEPS) {
      const { result, note = "" } = row.outcomes[step];
      if (result !== "yes" || note !== "") say(`  ${step}: ${result} ${note}`);
    }
    rows.push(row);
  }
  const page = report(rows, new Date().toISOString().slice(0, 10));
  if (clients.length === allClients(pythonOf).length) writeFileSync(PAGE, page);
  else process.stdout.write(page);
  if (rows.some(({ outcomes }) => STEPS.some((step) => outcomes[step].result === "failed"))) process.exitCode = 1;
}
