/** Each row of docs/testing.md's table: without that defence the simulator breaks that promise at that seed. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { LISTED } from "../../../tooling/src/mutate/list.ts";

const PAGE = join(import.meta.dirname, "../../../docs/testing.md");
const PROGRAM = join(import.meta.dirname, "without-defence.ts");
const ROW = /^\| ([^|]+) \| (\d+|[a-z]+(?:-[a-z]+)+) \| ([^|]+) \|$/gm;

const [, section = ""] = readFileSync(PAGE, "utf8").split("## What the simulator finds");
const [ofBrokers = "", ofServers = "", ofScenarios = ""] = section.split(/^### .*$/m);
const rowsIn = (text: string, world: string) =>
  [...text.matchAll(ROW)].map(([, defence = "", at = "", promise = ""]) => ({ world, defence, at, promise }));
const rowsOfBrokers = rowsIn(ofBrokers, "brokers");
const rows = [...rowsOfBrokers, ...rowsIn(ofServers, "servers"), ...rowsIn(ofScenarios, "every order")];

const PLACES = [
  "apps/broker/src/flows/",
  "apps/broker/src/grants/",
  "packages/oauth-core/src/brokered-code/",
  "packages/oauth-core/src/authorization-server/",
  "packages/oauth-core/src/protocol/state.ts",
  "packages/oauth-core/src/protocol/pkce.ts",
  "packages/token-store/src/crypto/record-mac.ts",
  "packages/token-store/src/storage/authenticated-records.ts",
];

/** At these places, too, but bounds, formats, pages and records of what happened. */
const OF_ANOTHER_KIND: ReadonlySet<string> = new Set([
  "Tokens are not handed out unrecorded",
  "An answer is one code or one error",
  "A long answer of a vendor is not kept for a replay",
  "The answers kept of one client have a bound",
  "The code of a native client is redeemed with the exact URI of its request",
  "A client authenticates in one way at a time",
  "An assertion lives a minute at most",
  "A pushed request contains no request object",
  "A sealed refresh token that does not open is sent to no vendor",
  "A sealed refresh token has a bound",
  "A token alone that says not where it came from is refused by name to a client of sealed tokens",
  "A redirect URI that is sent to /token is compared although it may be left out",
  "A browser keeps the cookies of twenty flows",
  "A token of a host that a request named goes to no userinfo of the entry",
  "Userinfo is asked only where the operator's file names it",
  "A failing userinfo loses no tokens",
  "A silent userinfo holds tokens up for 3 s at most",
  "A connection without ways to check pins none at a refresh",
  "A platform answers to its own name",
  "The port of localhost is free (this client must be accepted)",
  "The list of a backend's redirect URIs is exact, port included",
  "A redirect goes only to a URI that was checked",
  "A code_challenge has 43 characters of base64url",
  "The header of a state is compared with the canonical bytes",
  "A state has one spelling: its payload is canonical",
  "The MAC does not depend on the order in which an engine returns fields",
  "Callers cannot name the field that holds the MAC",
]);

/**
 * The defences that the simulator has to find, by their sentences: those of the broker that make something work once,
 * give a lease, fence a write, authenticate a record, or bind a state, code, token, client or user. The page says of
 * each at which seed it is found, or why it cannot show.
 */
const SELECTED: readonly string[] = LISTED.filter(
  ({ file, defence }) => PLACES.some((place) => file.startsWith(place)) && !OF_ANOTHER_KIND.has(defence),
).map(({ defence }) => defence);

const EVERY = volume({ test: 16, soak: 1 });
const chosen = rows.filter((_, index) => index % EVERY === 0);

describe("the simulator finds", { timeout: patience(chosen.length * 2_000 + 10_000) }, () => {
  it("each of these defences gone, at its seed or in its scenario, by its promise", async () => {
    const given = chosen.flatMap(({ defence, at, world }) => [defence, /^\d/.test(at) ? `${at}..${at}` : at, world]);
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...given]);
    const found = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(chosen.map((row, index) => [row.defence, found[index]])).toEqual(
      chosen.map(({ defence, at, promise }) => [defence, { at, promise }]),
    );
  });

  it("each selected defence of the broker, or the page says why not", () => {
    const found = new Set(rowsOfBrokers.map(({ defence }) => defence));
    const page = ofBrokers.replaceAll(/\s+/g, " ");
    expect(found.size).toBeGreaterThanOrEqual(30);
    expect(SELECTED.filter((defence) => !found.has(defence) && !page.includes(`"${defence}"`))).toEqual([]);
  });
});
