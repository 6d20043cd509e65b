/**
 * `npm run tour`: starts everything on this machine and says where to click. stderr has the text
 * for the user; stdout gets one JSON line with `url` when it is not a terminal. See tour.ts.
 */
import { freePort, isFreePort } from "../support/free-port.ts";
import { wholeNumber } from "@oauth-broker/oauth-core/command-line";
import { readProgram, say } from "../support/program.ts";

const HELP = `Usage: npm run tour [-- --port N]

Starts, on this machine alone: the broker's sandbox, the reference platform, and three MCP servers deployed through it: one that
is its own authorization server, one whose users link two vendors, one whose users connect through the broker. The vendors are practice
copies.
Says what to open and where to click; docs/tour.md is the same with pictures. Runs until Ctrl-C.

Options
  --port N      where the platform's pages are; default a free port
  -h, --help    this text
  -v, --version the version

What it keeps is in a temporary folder, which goes at the end. Exit codes: 0 stopped, 1 something failed, 2 not understood.`;

const stopped = Promise.withResolvers<undefined>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopped.resolve(undefined));

async function run(port: number): Promise<number> {
  if (!(await isFreePort(port))) {
    say(`Port ${port} is in use: end what listens there, or leave --port out and take a free one.`);
    return 1;
  }
  try {
    // Everything that is started, which neither --help nor a mistake needs.
    const [{ startTour }, { screen }] = await Promise.all([import("./tour.ts"), import("./screen.ts")]);
    const { temporaryFolder } = await import("../support/service-process.ts");
    const folder = temporaryFolder();
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
  } catch (error) {
    say(error instanceof Error ? error.message : "The tour could not be started.");
    return 1;
  }
}

const command = readProgram({ port: { type: "string" } }, { program: "npm run tour --", help: HELP }, ({ values }) => ({
  port: values.port === undefined ? undefined : wholeNumber("--port", values.port, 1, 65_535),
}));
if (command !== undefined) process.exit(await run(command.port ?? (await freePort())));
