/**
 * This release continues from the store of an earlier one: its keys and connections count, its
 * flows do not. The store is built from rows as the earlier release wrote them
 * (testing/release-0.1.0.golden.json), without any of our code.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import golden from "../testing/release-0.1.0.golden.json" with { type: "json" };
import { NOW, testBroker } from "../testing/test-broker.ts";

const { held } = golden;

function storeOfThen(): string {
  const folder = temporaryFolder();
  const path = join(folder, "broker.sqlite");
  writeFileSync(`${path}.key`, golden.keyFile, { mode: 0o600 });
  const db = new DatabaseSync(path);
  db.exec(`pragma application_id = ${golden.applicationId}; pragma user_version = ${golden.userVersion};`);
  db.exec(golden.schema);
  const insert = db.prepare("insert into records values (?, ?, ?, ?, ?, ?)");
  for (const { kind, id, stage, data, expires_at, keep_until } of golden.records) {
    insert.run(kind, id, stage, data, expires_at, keep_until);
  }
  db.close();
  return path;
}

async function brokerOfNow() {
  let calls = 0;
  const broker = await testBroker({
    config: { store: { kind: "sqlite", path: storeOfThen() } },
    vendorAnswers: async () => Response.json({ access_token: `new-${++calls}`, token_type: "bearer" }),
  });
  onTestFinished(() => broker.close());
  broker.now.advance(golden.writtenAt - NOW);
  return broker;
}

/** Its records carry no MAC, so none of its flows is accepted (docs/versioning.md). */
describe("a flow of then starts again", () => {
  it("bar#TS-3 before it leaves for the vendor", async () => {
    const broker = await brokerOfNow();
    const { response, location } = await broker.get(broker.authorizePath(held.requestUri));
    expect([response.status, location]).toEqual([400, undefined]);
  });

  it("bar#TS-3 when its browser comes back", async () => {
    const broker = await brokerOfNow();
    const { response, location } = await broker.callback({ state: held.state, code: "vendor-code" }, held.cookie);
    expect([response.status, location]).toEqual([400, undefined]);
  });

  it.each(["code", "spentCode"] as const)(
    "bar#TS-3 when its %s is redeemed, and the vendor is not asked",
    async (name) => {
      const broker = await brokerOfNow();
      const { response, body } = await broker.redeem(held[name]);
      expect([response.status, body["error"]]).toEqual([400, "invalid_grant"]);
      expect(broker.seen).toEqual([]);
    },
  );
});

it("a connection of then refreshes", async () => {
  const broker = await brokerOfNow();
  const { body } = await broker.refresh({ refresh_token: "rt-2", connection: held.connection });
  expect(body["access_token"]).toBe("new-1");
});
