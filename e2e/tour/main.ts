/**
 * `npm run tour`: starts everything on this machine and says where to click. stderr has the text
 * for the user; stdout gets one JSON line with `url` when it is not a terminal. See tour.ts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, isFreePort } from "../support/free-port.ts";
import { HELP, parseTourCommand } from "./options.ts";
import { screen } from "./screen.ts";
import { startTour } from "./tour.ts";
import manifest from "../package.json" with { type: "json" };

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const stopped = Promise.withResolvers<undefined>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopped.resolve(undefined));

async function run(port: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-tour-"));
  try {
    const tour = await startTour({ folder, port, stopped: stopped.promise }, say);
    if (tour === undefined) {
      say("Stopped before it was through.");
      return 0;
    }
    say(screen({ ...tour, folder }));
    if (!process.stdout.isTTY) process.stdout.write(`${JSON.stringify({ event: "ready", url: tour.url })}\n`);
    const why = await Promise.race([stopped.promise, tour.broken]);
    say(why === undefined ? "Stopping …" : `${why.message}\nThe tour ends.`);
    await tour.close();
    return why === undefined ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const command = parseTourCommand(process.argv.slice(2));
  if (command.name === "help" || command.name === "version") {
    process.stdout.write(`${command.name === "help" ? HELP : manifest.version}\n`);
    return 0;
  }
  if (command.name === "invalid") {
    say(command.message);
    return 2;
  }
  const { port = await freePort() } = command;
  if (await isFreePort(port)) return run(port);
  say(`Port ${port} is in use: end what listens there, or leave --port out and take a free one.`);
  return 1;
}

try {
  process.exit(await main());
} catch (error) {
  say(error instanceof Error ? error.message : "The tour could not be started.");
  process.exit(1);
}
