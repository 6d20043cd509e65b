/**
 * The operator's commands that run beside a serving broker, on the same configuration and store.
 * They print their answer to stdout.
 */
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { OAuthError, systemClock } from "@oauth-broker/oauth-core";
import { TERMINAL } from "@oauth-broker/oauth-core/command-line";
import { isFlowId } from "@oauth-broker/oauth-core/authorization-server";
import { check, keysetToRead } from "./check.ts";
import type { Command } from "./command-line.ts";
import { verifyAudit } from "../audit/verify.ts";
import type { Config } from "../config.ts";
import { readTimeline, type Timeline } from "./timeline.ts";
import { brokerRecords } from "../keys/broker-records.ts";
import { createKeyset, type Keyset, PUBLISH_SECONDS } from "../keys/keyset.ts";
import { openStores, type Stores } from "../stores.ts";

const { print, say } = TERMINAL;

/** @returns the exit code */
export async function runOperatorCommand(
  command: Exclude<Command, { name: "serve" }>,
  load: () => Config,
): Promise<number> {
  switch (command.name) {
    case "check":
      return check(load());
    case "audit-verify":
      return verifyStream(command);
    case "flow":
      return withStores(load(), (stores) => showFlow(command, stores));
    case "keys-rotate":
      return withStores(load(), rotate);
    case "keys-list":
      return withStores(load(), list);
    case "keys-adopt":
      return withStores(load(), (stores) => adopt(command.revision, stores));
    case "keys-new":
      return withStores(load(), (stores) => startOver(command.yes, stores));
  }
}

async function withStores(config: Config, run: (stores: Stores) => Promise<number>): Promise<number> {
  const { store } = config;
  if (store.kind === "memory") {
    say("The memory store lives inside the serving process. Use a sqlite: or dynamodb: store for this command.");
    return 1;
  }
  // Opening a store creates it: a mistyped path must not look like a store without flows.
  if (store.kind === "sqlite" && !existsSync(store.path)) {
    say(`There is no store at ${store.path}, or this user may not see it. If there is none, start the broker once`);
    return 1;
  }
  const stores = await openStores(config, systemClock);
  try {
    return await run(stores);
  } catch (error) {
    // The table or key service is unavailable. A server writes the details to its log; a command
    // prints them to the terminal.
    if (!(error instanceof OAuthError)) throw error;
    say(error.operatorText);
    return 1;
  } finally {
    await stores.close();
  }
}

/** Exit code 0 says that the lines hold together, and that all heads are among them. */
async function verifyStream({ file, heads }: { file: string; heads: readonly string[] }): Promise<number> {
  const input: AsyncIterable<Uint8Array> = file === "-" ? process.stdin : createReadStream(file);
  const found = await verifyAudit(input, heads).catch(({ code }: NodeJS.ErrnoException) => code ?? "error");
  if (typeof found === "string") {
    say(`${file} cannot be read (${found})`);
    return 1;
  }
  for (const { chain, seq, hash } of found.heads) print(`chain ${chain}, lines 1 to ${seq}, head ${hash}`);
  if (found.continues !== undefined)
    say(`The first line continues another file, whose last line has the hash ${found.continues}`);
  for (const problem of found.problems) say(`wrong: ${problem}`);
  if (found.moreProblems > 0) say(`and ${found.moreProblems} more`);
  const others = found.otherLines === 0 ? "" : `, and ${found.otherLines} not of the stream`;
  print(
    `${found.problems.length === 0 ? "ok" : "not ok"}: ${found.lines} ${found.lines === 1 ? "line" : "lines"}${others}`,
  );
  return found.problems.length === 0 ? 0 : 1;
}

async function showFlow({ flowId, json }: { flowId: string; json: boolean }, stores: Stores): Promise<number> {
  if (!isFlowId(flowId)) {
    say("That is not a flow id. It is the flow_id of a redirect, an error or a log line: 22 characters.");
    return 2;
  }
  const keyset = keysetToRead(stores);
  if (!(await keyset.look())) return sayThatThereAreNoKeys();
  const timeline = await readTimeline(flowId, brokerRecords({ records: stores.records, keyset }));
  if (timeline === undefined) {
    say("No such flow. Timelines are kept for an hour.");
    return 1;
  }
  print(json ? JSON.stringify(toWire(timeline), null, 2) : formatTimeline(timeline));
  return 0;
}

function toWire({ flowId, clientId, expiresAt, ...rest }: Timeline): Record<string, unknown> {
  return { flow_id: flowId, client_id: clientId, expires_at: expiresAt, ...rest };
}

function formatTimeline(timeline: Timeline): string {
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
  return [
    `flow         ${timeline.flowId}`,
    `stage        ${timeline.stage}, until ${at(timeline.expiresAt)}`,
    `client       ${timeline.clientId}`,
    `vendor       ${timeline.vendor}`,
    `credentials  ${timeline.credentials}`,
    `scope        ${timeline.scope.join(" ") || "none"}`,
    ...timeline.legs.flatMap((leg) => [
      "",
      `${at(leg.at)}  ${leg.leg}${leg.reason === undefined ? "" : `: ${leg.reason}`}`,
      ...leg.checks.map((check) => `  ok  ${check}`),
    ]),
  ].join("\n");
}

async function rotate(stores: Stores): Promise<number> {
  const keyset = keysetOf(stores);
  if (!(await keyset.look())) return sayThatThereAreNoKeys();
  const { kid, activeFrom } = await keyset.rotate();
  print(
    `New key ${kid}, used from ${new Date(activeFrom * 1000).toISOString()} (${PUBLISH_SECONDS} s, so that every process knows it first). Old keys keep opening what they sealed.`,
  );
  print(await revisionLine(keyset.revision(), stores));
  return 0;
}

async function list(stores: Stores): Promise<number> {
  const keyset = keysetToRead(stores);
  // Loading would create keys.
  if (!(await keyset.look())) return sayThatThereAreNoKeys();
  for (const { kid, createdAt, activeFrom, active } of keyset.describe()) {
    const made = new Date(createdAt * 1000).toISOString();
    const state = active ? "in use" : activeFrom > systemClock() ? "waiting" : "opens only";
    print(`${kid}  made ${made}  ${state}`);
  }
  // Goes to stderr: stdout has one line for each key.
  say(await revisionLine(keyset.revision(), stores));
  return 0;
}

async function adopt(revision: number, stores: Stores): Promise<number> {
  const keyset = keysetOf(stores);
  const isOurs = await keyset.look().catch(() => false);
  if (isOurs && keyset.revision() === revision) {
    print(`The keyset of revision ${revision} already belongs to this broker.`);
    return 0;
  }
  const adopted = await keyset.adopt(revision);
  print("The keyset now belongs to this broker. If others may know a key in it, run: main.js keys rotate");
  print(await revisionLine(adopted, stores));
  return 0;
}

/** Says what ends before anything is done: it cannot be undone. */
async function startOver(yes: boolean, stores: Stores): Promise<number> {
  if ((await stores.keyset.read({ adopt: true })) !== undefined) {
    say("There is a keyset, so nothing was changed. To replace a key: main.js keys rotate");
    return 1;
  }
  say(
    "New keys end what was made under the old ones: every connection and sealed refresh token (users connect again), " +
      "flows under way, and the callback paths /v1/custom/... (register their redirect URIs again; POST /v1/explain shows them).",
  );
  if (!yes && !(await isConfirmed())) {
    say("Nothing was changed. To go on: main.js keys new --yes");
    return 1;
  }
  const revision = await keysetOf(stores).startOver();
  print("The broker has new keys. Running processes take them within 20 seconds.");
  print(await revisionLine(revision, stores));
  return 0;
}

/** @returns false without a terminal, if the operator cannot be asked */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question("Make new keys? Type yes: ")).trim() === "yes";
  } finally {
    terminal.close();
  }
}

function keysetOf({ keyset: storage, floor }: Stores): Keyset {
  return createKeyset({ storage, floor, now: systemClock });
}

/** Tells the operator the setting to write down if the broker cannot store it itself. */
async function revisionLine(revision: number, { floor }: Pick<Stores, "floor">): Promise<string> {
  const kept = await floor.kept();
  return kept >= revision
    ? `Revision ${revision}; keysets below ${kept} are refused.`
    : `Revision ${revision}. To refuse an older keyset after a restart, set keys_min_revision: ${revision}`;
}

function sayThatThereAreNoKeys(): number {
  say("There are no keys yet. Start the broker once, then try again");
  return 1;
}
