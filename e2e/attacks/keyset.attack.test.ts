/**
 * Attacker: has write access to the store but cannot use the key, and puts an older keyset back or
 * brings one of another broker, or deletes it; the broker starts again in between. The twins remove
 * the floor, as a missing setting or a deleted file would. Without the binding:
 * apps/broker/src/keys/keyset-place.test.ts.
 */
import { patience, shared } from "@oauth-broker/oauth-core/testing";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBroker } from "@oauth-broker/broker/src/app.ts";
import { parseCommand } from "@oauth-broker/broker/src/cli/command-line.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { type OperatorCommand, runOn } from "@oauth-broker/broker/src/testing/operator-command.ts";
import type { RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { sqliteRecordStore } from "@oauth-broker/token-store/sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startAws } from "../support/aws/aws.ts";
import { temporaryFolder } from "../support/broker/process.ts";
import { brokerYaml, createSecrets } from "../support/broker/configuration.ts";

const KEYSET = { kind: "keyset", id: "broker" };
const now = (): number => Math.floor(Date.now() / 1000);
const secrets = createSecrets();

type Harness = Awaited<ReturnType<typeof harnessOn>>;
async function harnessOn(
  places: { readonly store: string; readonly keys?: string },
  open: (folder: string) => RecordStore,
  env: Readonly<Record<string, string>> = {},
) {
  const folder = temporaryFolder();
  const own = "http://127.0.0.1:1";
  /** Starts a broker from its configuration, asks whether it is ready, and ends it. */
  const readyz = async (more = "", baseUrl = own) => {
    const yaml = brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", ...places, more });
    writeFileSync(join(folder, "broker.yaml"), yaml);
    const broker = await createBroker(loadConfig(env, folder), { log: createLog({ write: () => undefined }) });
    try {
      await broker.loadKeys();
      const answer = await broker.app.fetch(new Request(`${baseUrl}/readyz`));
      return { status: answer.status, text: await answer.text() };
    } finally {
      await broker.close();
    }
  };
  expect((await readyz()).status).toBe(200);
  const records = open(folder);
  onTestFinished(async () => {
    await records.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const command = async (...args: string[]) =>
    runOn(() => loadConfig(env, folder), (parseCommand(args) as { command: OperatorCommand }).command);
  return { folder, records, readyz, command };
}

async function recordIn({ records }: Harness): Promise<StoredRecord> {
  return (await records.get(KEYSET))!;
}

async function putBack({ records }: Harness, { stage, data, expiresAt }: StoredRecord): Promise<void> {
  await records.delete(KEYSET);
  await records.create({ key: KEYSET, stage, data, expiresAt });
}

const REFUSED = { status: 503, text: expect.stringContaining('"keys_unavailable"') };

describe("a keyset in a SQLite file", () => {
  const start = (): Promise<Harness> =>
    harnessOn({ store: "sqlite:./broker.sqlite" }, (folder) =>
      sqliteRecordStore({ path: join(folder, "broker.sqlite"), now }),
    );

  it("bar#TS-19 put back is refused after a restart; without the floor file it is taken (#11)", async () => {
    const harness = await start();
    const old = await recordIn(harness);
    const rotated = await harness.command("keys", "rotate");
    expect(rotated).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Revision 2; keysets below 2 are refused."),
    });
    await putBack(harness, old);
    expect(await harness.readyz()).toMatchObject(REFUSED);
    const { stderr } = await harness.command("keys", "list");
    expect(stderr).toContain("of revision 1, and 2 was in use");
    expect(stderr).toContain("main.js keys adopt 1");

    const floor = join(harness.folder, "broker.sqlite.key.revision");
    expect(existsSync(floor)).toBe(true);
    rmSync(floor);
    expect((await harness.readyz()).status).toBe(200);
    expect((await harness.command("keys", "list")).stdout.trim().split("\n")).toHaveLength(1);
  });

  it("a backup restored on purpose serves again after the command that the error names", async () => {
    const harness = await start();
    const old = await recordIn(harness);
    await harness.command("keys", "rotate");
    await putBack(harness, old);
    const adopted = await harness.command("keys", "adopt", "1");
    expect(adopted).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Revision 3; keysets below 3 are refused"),
    });
    expect((await harness.readyz()).status).toBe(200);
  });

  it("bar#TS-19 deleted is no first start; without the file beside the key it is one", async () => {
    const harness = await start();
    await harness.records.delete(KEYSET);
    expect(await harness.readyz()).toMatchObject(REFUSED);
    expect((await harness.command("keys", "list")).stderr).toContain("main.js keys new");
    expect(await harness.records.get(KEYSET)).toBeUndefined();
    const made = await harness.command("keys", "new", "--yes");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining("Revision 2; keysets below 2 are refused") });
    expect((await harness.readyz()).status).toBe(200);

    await harness.records.delete(KEYSET);
    rmSync(join(harness.folder, "broker.sqlite.key.revision"));
    expect((await harness.readyz()).status).toBe(200);
  });
});

describe("a keyset in a table, under KMS", () => {
  const aws = shared(() => startAws());
  beforeAll(() => {
    for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  });
  afterAll(() => vi.unstubAllEnvs());
  const start = async (): Promise<Harness> => {
    const { region, endpoint } = aws.engine;
    const table = await aws.engine.createTable();
    const store = `dynamodb:${table}?region=${region}&endpoint=${endpoint}`;
    return harnessOn(
      { store, keys: aws.keys },
      () => dynamodbRecordStore({ table, region, endpoint, deadlineMs: patience(3_000), now }),
      aws.env,
    );
  };

  it("bar#TS-19 put back is refused by keys_min_revision; without it, it is taken (#11)", async () => {
    const harness = await start();
    const old = await recordIn(harness);
    const rotated = await harness.command("keys", "rotate");
    const [line] = /keys_min_revision: 2$/m.exec(rotated.stdout) ?? [];
    expect((await harness.readyz(line)).status).toBe(200);
    await putBack(harness, old);
    expect(await harness.readyz(line)).toMatchObject(REFUSED);
    expect((await harness.command("keys", "list")).stderr).toContain("main.js keys adopt 1");
    expect((await harness.readyz()).status).toBe(200);
    expect((await harness.command("keys", "list")).stdout.trim().split("\n")).toHaveLength(1);
  });

  it("bar#TS-3 of another base_url does not open with the same key; the error says how (#11)", async () => {
    const harness = await start();
    const production = "http://127.0.0.1:2";
    expect(await harness.readyz("", production)).toMatchObject(REFUSED);
    expect((await harness.command("keys", "list")).stderr).toMatch(/belongs to http.*main\.js keys adopt 1$/m);
    expect((await harness.command("keys", "adopt", "1")).code).toBe(0);
    expect((await harness.readyz("", production)).status).toBe(200);
    expect(await harness.readyz()).toMatchObject(REFUSED);
  });

  it("bar#TS-3 one of another table does not open", async () => {
    const [staging, production] = [await start(), await start()];
    await putBack(production, await recordIn(staging));
    expect(await production.readyz()).toMatchObject(REFUSED);
  });
});
