/** A broker on an SQLite file, and an attacker who writes that file without the keys. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { onTestFinished } from "vitest";
import { testBroker, type TestBrokerOptions } from "./test-broker.ts";

export async function writtenStore(options: TestBrokerOptions = {}) {
  const folder = temporaryFolder();
  const path = join(folder, "broker.sqlite");
  const broker = await testBroker({ ...options, config: { ...options.config, store: { kind: "sqlite", path } } });
  onTestFinished(async () => {
    await broker.close();
  });
  const inFile = <T>(work: (file: DatabaseSync) => T): T => {
    const file = new DatabaseSync(path);
    try {
      return work(file);
    } finally {
      file.close();
    }
  };
  return {
    broker,
    /** @param fields of the record's data, as the attacker needs them */
    write: (flowId: string, fields: Readonly<Record<string, string>>): void =>
      inFile((file) => {
        for (const [name, value] of Object.entries(fields)) {
          file.prepare("update records set data = json_set(data, ?, ?) where id = ?").run(`$.${name}`, value, flowId);
        }
      }),
    /** Puts a copy of a record under another id, with other fields. */
    forge: (flowId: string, as: string, fields: Readonly<Record<string, string>>): void =>
      inFile((file) => {
        const columns = "kind, ?, stage, data, expires_at, keep_until";
        file.prepare(`insert into records select ${columns} from records where id = ?`).run(as, flowId);
        for (const [name, value] of Object.entries(fields)) {
          file.prepare("update records set data = json_set(data, ?, ?) where id = ?").run(`$.${name}`, value, as);
        }
      }),
    stage: (flowId: string): unknown =>
      inFile((file) => file.prepare("select stage from records where id = ?").get(flowId)?.["stage"]),
  };
}
