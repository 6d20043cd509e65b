/**
 * Compares docs/storage-schema.md with what is really stored: every field has a line, every line a
 * field.
 */
import { readFile } from "node:fs/promises";
import type { RecordKey, RecordStore } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { recordKeysetStorage } from "../keys/keyset-storage.ts";
import { ISSUER, NOW, testBroker } from "../testing/test-broker.ts";

const page = await readFile(new URL("../../../../docs/storage-schema.md", import.meta.url), "utf8");

/** Names in the first column of the section of a kind. */
function documented(kind: string): Set<string> {
  const section = page.split(`\n## \`${kind}\``)[1]?.split("\n## ")[0] ?? "";
  const firstCells = section.split("\n").map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? "");
  return new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)));
}

/** @returns the fields that are written from now on, by the kind of their record */
function fieldsWritten(records: RecordStore): ReadonlyMap<string, ReadonlySet<string>> {
  const fields = new Map<string, Set<string>>();
  const { create, advance } = records;
  const note = <T>({ kind }: RecordKey, data: object, result: T): T => {
    fields.set(kind, new Set([...(fields.get(kind) ?? []), ...Object.keys(data)]));
    return result;
  };
  Object.assign(records, {
    create: (record) => note(record.key, record.data, create(record)),
    advance: (...args) => note(args[0], args[2].set, advance(...args)),
  } satisfies Partial<RecordStore>);
  return fields;
}

it("lists every field a flow ever has", async () => {
  const metadata = {
    issuer: "https://issuer.example",
    authorization_endpoint: "https://issuer.example/authorize",
    token_endpoint: "https://issuer.example/token",
    response_types_supported: ["code"],
  };
  const broker = await testBroker({
    vendorAnswers: async () => Response.json({ access_token: "at", token_type: "bearer", ...metadata }),
  });
  const seen = fieldsWritten(broker.deps.records);
  const asked = { login_hint: "user", prompt: "consent", resource: "https://api.example", vendor_params: '{"a":"b"}' };
  const own = { vendor_client_id: "mine", vendor_client_secret: "s" };
  const code = await broker.park({ ...asked, ...own });
  await broker.redeem(code);
  const endpoints = {
    authorization_endpoint: "https://{tenant}.example/authorize",
    token_endpoint: "https://{tenant}.example/token",
    placeholders: '{"tenant":"t"}',
  };
  await broker.push({ vendor: "", ...own, ...endpoints });
  await broker.push({ vendor: "", ...own, issuer: "https://issuer.example" });
  await broker.redeem(await broker.park(), { code_verifier: "a".repeat(43) });
  expect(seen.get("flow")).toEqual(documented("flow"));
});

it("lists every field of the keyset", async () => {
  const records = memoryRecordStore({ now: fixedClock(NOW) });
  const dataKey = Buffer.alloc(32, 1);
  const wrapper = { newDataKey: async () => ({ dataKey, wrapped: "w" }), unwrap: async () => dataKey };
  const place = { baseUrl: ISSUER, environment: "local", table: "records" };
  const storage = recordKeysetStorage({ records, place, wrapper, otherwise: "" });
  await storage.write(undefined, { text: "{}", revision: 1 });
  const record = await records.get({ kind: "keyset", id: "broker" });
  expect(new Set(Object.keys(record?.data ?? {}))).toEqual(documented("keyset"));
});

it("lists every field of a refresh", async () => {
  const broker = await testBroker();
  const { connection } = await broker.connect();
  const seen = fieldsWritten(broker.deps.records);
  await broker.refresh({ connection });
  expect(seen.get("refresh")).toEqual(documented("refresh"));
});
