import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newChain, nextLine } from "../audit/chain.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import type { Config } from "../config.ts";
import { folderOf, load, MINIMAL } from "../config/testing/config-file.ts";
import { createKeyset } from "../keys/keyset.ts";
import { openStores } from "../stores.ts";
import { testAws } from "../testing/aws.ts";
import { makeKeys, type OperatorCommand, runOn, storeWithKeys } from "../testing/operator-command.ts";

const run = (command: OperatorCommand, config: Config) => runOn(() => config, command);

const FLOW: OperatorCommand = { name: "flow", flowId: "A".repeat(22), json: false };
const COMMANDS: readonly OperatorCommand[] = [FLOW, { name: "keys-list" }, { name: "keys-rotate" }];
const NO_FLOW = { code: 1, stderr: "No such flow. Timelines are kept for an hour.\n" };

describe("a command on the store", () => {
  it.each(COMMANDS)("$name creates no store where there is no store yet", async (command) => {
    const folder = folderOf();
    const path = join(folder, "data", "broker.sqlite");
    const config = load({ ...MINIMAL, store: `sqlite:${path}` });
    expect(await run(command, config)).toEqual({
      code: 1,
      stdout: "",
      stderr: `There is no store at ${path}, or this user may not see it. If there is none, start the broker once\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(COMMANDS)("$name makes no key and, if it only reads, no floor where they are lost", async (command) => {
    const { folder, config } = await storeWithKeys();
    rmSync(join(folder, "broker.sqlite.key.revision"));
    if (command.name !== "keys-rotate") await run(command, config);
    expect(readdirSync(folder).filter((name) => name.includes("key"))).toEqual(["broker.sqlite.key"]);
    rmSync(join(folder, "broker.sqlite.key"));
    expect(await run(command, config)).toMatchObject({ code: 1, stderr: expect.stringContaining("is missing") });
    expect(readdirSync(folder).filter((name) => name.includes("key"))).toEqual([]);
  });

  it("reads the one that a broker has made", async () => {
    const { path, config } = await storeWithKeys();
    expect(existsSync(path)).toBe(true);
    expect(await run(FLOW, config)).toMatchObject(NO_FLOW);
  });
});

describe("keys new", () => {
  it("changes nothing while there is a keyset", async () => {
    const { config } = await storeWithKeys();
    const stderr = "There is a keyset, so nothing was changed. To replace a key: main.js keys rotate\n";
    expect(await run({ name: "keys-new", yes: true }, config)).toMatchObject({ code: 1, stderr });
  });

  it("says what ends, and makes keys in place of those that are gone once the operator agrees", async () => {
    const { config } = await storeWithKeys();
    const stores = await openStores(config, systemClock);
    await stores.records.delete({ kind: "keyset", id: "broker" });
    expect(await run({ name: "keys-new", yes: false }, config)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/every connection[^]*Nothing was changed/),
    });
    expect(await run({ name: "keys-new", yes: true }, config)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Revision 2; keysets below 2 are refused."),
    });
    const keyset = createKeyset({ storage: stores.keyset, floor: stores.floor, now: systemClock });
    await keyset.load();
    expect(keyset.revision()).toBe(2);
    await stores.close();
  });
});

describe("audit verify", () => {
  const { line, head } = nextLine('"n":1', newChain());
  const needless = (): never => {
    throw new Error("needs no configuration");
  };
  const verify = (file: string, heads: readonly string[] = []) =>
    runOn(needless, { name: "audit-verify", file, heads });

  it("prints each chain with its head, and ok", async () => {
    const path = join(folderOf(), "audit.jsonl");
    writeFileSync(path, `${line}\nsomething else\n`);
    expect(await verify(path, [head.hash])).toEqual({
      code: 0,
      stdout: `chain ${head.chain}, lines 1 to 1, head ${head.hash}\nok: 1 line, and 1 not of the stream\n`,
      stderr: "",
    });
  });

  it("exits with 1 and says what is wrong", async () => {
    const path = join(folderOf(), "audit.jsonl");
    writeFileSync(path, "");
    expect(await verify(path)).toEqual({
      code: 1,
      stdout: "not ok: 0 lines\n",
      stderr: "wrong: the input has no line of an audit stream\n",
    });
    writeFileSync(path, `${line}\n${line.repeat(30)}\n${`${line}\n`.repeat(30)}`);
    const { code, stderr } = await verify(path);
    expect({ code, lines: stderr.split("\n").length }).toEqual({ code: 1, lines: 22 });
    expect(stderr).toMatch(/\nand 11 more\n$/);
  });

  it("exits with 1 for what it cannot read", async () => {
    const folder = folderOf();
    const missing = join(folder, "audit.jsonl");
    expect(await verify(missing)).toEqual({ code: 1, stdout: "", stderr: `${missing} cannot be read (ENOENT)\n` });
    expect(await verify(folder)).toMatchObject({ code: 1, stderr: `${folder} cannot be read (EISDIR)\n` });
  });

  it("names the line of another file that the first one continues", async () => {
    const path = join(folderOf(), "audit.jsonl");
    writeFileSync(path, `${nextLine('"n":2', newChain(head.hash)).line}\n`);
    expect(await verify(path)).toMatchObject({
      code: 0,
      stderr: `The first line continues another file, whose last line has the hash ${head.hash}\n`,
    });
  });
});

describe("a command on a table", () => {
  const aws = testAws();
  const { configOf } = aws;

  it("finds no keys before a broker has started, and creates no keys", async () => {
    const store = await aws.newStore();
    for (const name of ["keys-list", "keys-rotate"] as const) {
      expect(await run({ name }, configOf(store))).toEqual({
        code: 1,
        stdout: "",
        stderr: "There are no keys yet. Start the broker once, then try again\n",
      });
    }
    expect(await aws.engine.items(store.table)).toEqual([]);
  });

  it("lists and rotates the keys of the brokers there", async () => {
    const config = configOf(await aws.newStore());
    const stores = await openStores(config, systemClock);
    const keyset = createKeyset({ storage: stores.keyset, now: systemClock });
    await keyset.load();
    const rotated = await run({ name: "keys-rotate" }, config);
    expect(rotated).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^New key [\w-]+, used from /),
    });
    await keyset.load();
    expect(keyset.describe()).toHaveLength(2);
    const { stdout, stderr } = await run({ name: "keys-list" }, config);
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/in use$/),
      expect.stringMatching(new RegExp(`^${keyset.describe()[1]?.kid} .*waiting$`)),
    ]);
    expect(stderr).toBe("Revision 2. To refuse an older keyset after a restart, set keys_min_revision: 2\n");
    expect(rotated.stdout).toMatch(/set keys_min_revision: 2\n$/);
    expect((await run({ name: "keys-list" }, { ...config, keysMinRevision: 2 })).stderr).toBe(
      "Revision 2; keysets below 2 are refused.\n",
    );
    await stores.close();
    expect(await run(FLOW, config)).toMatchObject(NO_FLOW);
  });

  it("adopts another base_url's keyset by its exact revision, above every floor (#11)", async () => {
    const config = configOf(await aws.newStore());
    await makeKeys(config);
    const [kid = "no key"] = (await run({ name: "keys-list" }, config)).stdout.split(" ");
    const moved = { ...config, baseUrl: "https://moved.example.com", keysMinRevision: 7 };
    const stderr = expect.stringContaining("main.js keys adopt 1") as string;
    expect(await run({ name: "keys-list" }, moved)).toMatchObject({ code: 1, stdout: "", stderr });
    expect(await run({ name: "keys-adopt", revision: 2 }, moved)).toMatchObject({
      code: 1,
      stderr: "The keys cannot be opened: the keyset there is of revision 1, not 2\n",
    });
    expect(await run({ name: "keys-adopt", revision: 1 }, moved)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Revision 8\. To refuse .* keys_min_revision: 8\n$/),
    });
    expect((await run({ name: "keys-list" }, moved)).stdout).toContain(`${kid} `);
    expect(await run({ name: "keys-adopt", revision: 8 }, moved)).toMatchObject({
      stdout: "The keyset of revision 8 already belongs to this broker.\n",
    });
    expect(await run({ name: "keys-list" }, config)).toMatchObject({ code: 1 });
  });

  it("says what to do when the table does not exist, or KMS refuses the key", async () => {
    const store = await aws.newStore();
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await run(command, configOf({ ...store, table: "mistyped" }));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^The record store does not respond: there is no table mistyped in region eu-west-1.*\n$/);
    }
    const keyArn = aws.kms.createKey();
    const stores = await openStores(configOf(store, keyArn), systemClock);
    await stores.keyset.write(undefined, { text: "{}", revision: 1 });
    await stores.close();
    aws.kms.setKeyState(keyArn, "Disabled");
    expect(await run({ name: "keys-list" }, configOf(store, keyArn))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The key service does not respond: .*enable it\n$/),
    });
  });
});
