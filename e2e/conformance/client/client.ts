/**
 * The program that the client half of the conformance suite starts, once per scenario: it gets the
 * URL of the suite's server, and has it used as a client uses it (player.ts). The suite evaluates the
 * requests; an exit code of 1 says that the client stopped.
 */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { PLAYED, type Scene } from "./player.ts";

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: context,
  CONFORMANCE_PLAYER: port,
} = process.env;
const player = connect(Number(port), "127.0.0.1");
player.end(JSON.stringify({ scenario, url: process.argv.at(-1) ?? "", context } satisfies Scene));
const answer = await text(player);
if (answer !== PLAYED) {
  process.stderr.write(`${answer}\n`);
  process.exitCode = 1;
}
