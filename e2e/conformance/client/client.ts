/**
 * The program that the client half of the conformance suite starts, once per scenario: it gets the
 * URL of the suite's server and uses it as a client. The suite evaluates the requests; an exit code
 * of 1 says that the client stopped.
 */
import { takeTurn } from "./turn.ts";

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: context,
  CONFORMANCE_TURNS: turns,
} = process.env;
await takeTurn(turns);
// Loaded in turn, too.
const { play } = await import("./play.ts");
const { readContext } = await import("./use.ts");
await play(scenario, process.argv.at(-1) ?? "", readContext(context));
