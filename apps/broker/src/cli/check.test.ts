/** `broker check`: it says `ok` exactly where a start would become ready, and changes nothing. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Config } from "../config.ts";
import { folderOf, load, MINIMAL } from "../config/testing/config-file.ts";
import { testAws } from "../testing/aws.ts";
import { makeKeys, runOn, storeWithKeys } from "../testing/operator-command.ts";

const check = (config: Config) => runOn(() => config, { name: "check" });

/** Without what SQLite has beside a file that is open. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => !/-(wal|shm)$/.test(path));

const refused = (why: string) => ({
  code: 1,
  stdout: expect.not.stringMatching(/^ok$/m),
  stderr: expect.stringContaining(`does not become ready: ${why}`),
});
const OK = { code: 0, stdout: expect.stringMatching(/\nok\n$/), stderr: expect.not.stringContaining("ready") };

describe("a store on this machine (#29)", () => {
  it.each([{}, { keys: "file:keys/keyset.json" }])("that is not there yet is ok, and is not made: %j", async (more) => {
    const config = load({ ...MINIMAL, store: "sqlite:data/broker.sqlite", ...more });
    const folder = join(config.file ?? "", "..");
    const before = filesIn(folder);
    expect(await check(config)).toMatchObject(OK);
    expect(filesIn(folder)).toEqual(before);
  });

  it("that a broker has made is ok beside it, and nothing is made", async () => {
    const { folder, path, config } = await storeWithKeys();
    rmSync(`${path}.key.revision`);
    const before = filesIn(folder);
    expect(await check(config)).toMatchObject(OK);
    expect(filesIn(folder)).toEqual(before);
  });

  it.each([
    [
      "a folder that cannot be made",
      "sqlite:taken/broker.sqlite",
      /taken\/broker\.sqlite cannot be made \(\w+ in .*taken\)/,
    ],
    ["a file that is no store", "sqlite:taken", /The record store does not respond/],
  ])("is not ok at %s", async (_, store, why) => {
    const files = { taken: "something else, and more than a header of SQLite has".repeat(20) };
    const config = load({ ...MINIMAL, store }, { files });
    expect(await check(config)).toMatchObject({ ...refused(""), stderr: expect.stringMatching(why) });
  });

  it("is not ok with the keys of another broker, without its key file, or with an older copy", async () => {
    const { path, config } = await storeWithKeys();
    const moved = { ...config, baseUrl: "https://moved.example.com" };
    expect(await check(moved)).toMatchObject(refused("The keys cannot be opened: the keyset belongs to"));
    expect(await check({ ...config, keysMinRevision: 7 })).toMatchObject(
      refused("The keys cannot be opened: the keyset is of revision 1, and 7 was in use"),
    );
    const key = readFileSync(`${path}.key`);
    rmSync(`${path}.key`);
    expect((await check(config)).stderr).toContain(`${path}.key. If it is lost, delete the file of the store`);
    writeFileSync(`${path}.key`, "not a key");
    expect(await check(config)).toMatchObject(refused("The keys cannot be opened"));
    writeFileSync(`${path}.key`, key);
    expect(await check(config)).toMatchObject(OK);
  });

  it("is not ok where the store is gone and keys were in use", async () => {
    const { path, config } = await storeWithKeys();
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    expect(await check(config)).toMatchObject(refused("The keys cannot be opened"));
    expect(existsSync(path)).toBe(false);
  });

  it("is not ok if the key file cannot be made or is another broker's, with no store yet", async () => {
    const files = { taken: "", "keys.json": JSON.stringify({ base_url: "https://other.example.com", revision: 1 }) };
    const store = "sqlite:data/broker.sqlite";
    const cannot = load({ ...MINIMAL, store, keys: "file:taken/keys.json" }, { files });
    expect((await check(cannot)).stderr).toMatch(/does not become ready: .*taken\/keys\.json/);
    const foreign = load({ ...MINIMAL, store, keys: "file:keys.json" }, { files });
    expect(await check(foreign)).toMatchObject(refused("The keys cannot be opened"));
    expect(existsSync(join(foreign.file ?? "", "..", "data"))).toBe(false);
  });
});

describe("a table (#29)", () => {
  const aws = testAws();
  const { configOf } = aws;

  it("is ok before and after the first start, and no keyset is made before", async () => {
    const store = await aws.newStore();
    const config = configOf(store, aws.kms.createKey());
    expect(await check(config)).toMatchObject(OK);
    // What /readyz writes to see that it may.
    expect((await aws.engine.items(store.table)).map(({ pk }) => pk)).toEqual([{ S: "PING" }]);
    await makeKeys(config);
    expect(await check(config)).toMatchObject(OK);
  });

  it("is not ok where the table, the key or the file of keys is missing", async () => {
    const store = await aws.newStore();
    const keyArn = aws.kms.createKey();
    expect(await check(configOf({ ...store, table: "mistyped" }, keyArn))).toMatchObject(
      refused("The record store does not respond: there is no table mistyped in region eu-west-1"),
    );
    aws.kms.setKeyState(keyArn, "Disabled");
    expect(await check(configOf(store, keyArn))).toMatchObject(refused("The key service does not respond"));
    const file = { ...configOf(store, keyArn), keys: { kind: "file", path: join(folderOf(), "keys.json") } } as const;
    expect(await check(file)).toMatchObject(refused(`${file.keys.path} is missing: copy the one that the others have`));
  });

  it("says where flows and keys are", async () => {
    const keyArn = aws.kms.createKey();
    const store = await aws.newStore();
    const { stdout } = await check(configOf(store, keyArn));
    expect(stdout).toContain(`store          dynamodb, table ${store.table} in eu-west-1 at ${store.endpoint}\n`);
    expect(stdout).toContain(`keys           in the store, sealed under ${keyArn}\n`);
    const beside = load({ ...MINIMAL, store: "sqlite:b.sqlite" });
    expect((await check(beside)).stdout).toMatch(
      /^store +sqlite, .*\/b\.sqlite\nkeys .*sealed by .*\/b\.sqlite\.key$/m,
    );
    const file = load({ ...MINIMAL, store: "sqlite:b.sqlite", keys: "file:keys.json" });
    expect((await check(file)).stdout).toMatch(/^keys +\/.*\/keys\.json$/m);
  });
});
