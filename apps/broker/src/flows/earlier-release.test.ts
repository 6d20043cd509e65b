/**
 * A broker of this release goes on from the store of an earlier one: flows under way at every leg, keys, refresh replays.
 * The store is made from the rows as they were written then (testing/release-0.1.0.golden.json), without code of ours.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import golden from "../testing/release-0.1.0.golden.json" with { type: "json" };
import { NOW, testBroker } from "../testing/test-broker.ts";

const { held } = golden;

function storeOfThen(): string {
  const folder = mkdtempSync(join(tmpdir(), "earlier-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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

it("a pushed flow goes to the vendor, comes back and gets its tokens", async () => {
  const broker = await brokerOfNow();
  const { location, cookie } = await broker.get(broker.authorizePath(held.requestUri));
  const state = location?.searchParams.get("state") ?? "";
  const back = await broker.callback({ state, code: "vendor-code" }, cookie);
  const { response, body } = await broker.redeem(back.location?.searchParams.get("code") ?? "");
  expect({ status: response.status, token: body["access_token"] }).toEqual({ status: 200, token: "new-1" });
});

it("a browser that had left comes back: its state and cookie count", async () => {
  const broker = await brokerOfNow();
  const { location } = await broker.callback({ state: held.state, code: "vendor-code" }, held.cookie);
  const { response } = await broker.redeem(location?.searchParams.get("code") ?? "");
  expect(response.status).toBe(200);
});

it("a parked code opens once, and the vendor gets its own code and the verifier of then", async () => {
  const broker = await brokerOfNow();
  expect((await broker.redeem(held.code)).response.status).toBe(200);
  expect(broker.seen[0]?.form.get("code")).toBe("vendor-code");
  expect(broker.seen[0]?.form.get("code_verifier")).toMatch(/^[\w-]{43}$/);
  const again = await broker.redeem(held.code);
  expect({ status: again.response.status, error: again.body["error"] }).toEqual({
    status: 400,
    error: "invalid_grant",
  });
});

it("a code that was spent then stays spent", async () => {
  const broker = await brokerOfNow();
  expect((await broker.redeem(held.spentCode)).response.status).toBe(400);
  expect(broker.seen).toEqual([]);
});

it("a connection of then refreshes, and the answer it already got is replayed without asking the vendor", async () => {
  const broker = await brokerOfNow();
  const refresh = async (refreshToken: string) =>
    broker.post("/v1/token", {
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      connection: held.connection,
    });
  const replayed = await refresh(held.refreshToken);
  expect(replayed.body).toEqual({ ...held.refreshAnswer, expires_in: held.refreshAnswer.expires_in - 1 });
  expect(broker.seen).toEqual([]);
  expect((await refresh("rt-2")).body["access_token"]).toBe("new-1");
});
