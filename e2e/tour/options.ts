/** The command line of the tour. */
import { readCommandLine, usageMessage } from "@oauth-broker/oauth-core";

export const HELP = `Usage: npm run tour [-- --port N]

Starts, on this machine alone: the broker's sandbox, the reference platform, and three MCP servers deployed through it: one that
is its own authorization server, one whose users link two vendors, one whose users connect through the broker. The vendors are practice
copies.
Says what to open and where to click; docs/tour.md is the same with pictures. Runs until Ctrl-C.

Options
  --port N      where the platform's pages are; default a free port
  -h, --help    this text
  -v, --version the version

What it keeps is in a temporary folder, which goes at the end. Exit codes: 0 stopped, 1 something failed, 2 not understood.`;

export type TourCommand =
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "invalid"; readonly message: string }
  | { readonly name: "run"; readonly port: number | undefined };

/** @param args without the program and the script */
export function parseTourCommand(args: readonly string[]): TourCommand {
  const read = readCommandLine(args, { port: { type: "string" } });
  if (read.kind === "invalid") return invalid(read.problem);
  if (read.kind !== "given") return { name: read.kind };
  if (read.values.port === undefined) return { name: "run", port: undefined };
  const port = Number(read.values.port);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return { name: "run", port };
  return invalid("--port takes a number from 1 to 65535");
}

const invalid = (problem: string): TourCommand => ({
  name: "invalid",
  message: usageMessage("npm run tour --", problem),
});
