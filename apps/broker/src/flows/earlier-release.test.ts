/**
 * This release continues from the store of an earlier one: flows under way at every leg, keys,
 * refresh replays. The store is built from rows as the earlier release wrote them
 * (testing/release-0.1.0.golden.json), without any code of ours.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { flowContextHash } from "@oauth-broker/oauth-core/client";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it, onTestFinished } from "vitest";
import golden from "../testing/release-0.1.0.golden.json" with { type: "json" };
import { ISSUER, NOW, testBroker } from "../testing/test-broker.ts";
import { asFlow, flowKey } from "./flow-record.ts";

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

it("a process of then reads the flows of now: the same format version, and every field it knows", async () => {
  const broker = await testBroker();
  const { body } = await broker.push();
  const flowId = /request_uri:([^.]+)\./.exec(String(body["request_uri"]))?.[1] ?? "";
  const now = (await broker.deps.records.get(flowKey(flowId)))?.data ?? {};
  const then = golden.records.find(({ kind, stage }) => kind === "flow" && stage === "pushed");
  const known = JSON.parse(then?.data ?? "{}") as Record<string, unknown>;
  expect(now["v"]).toBe(known["v"]);
  expect(Object.keys(known).filter((name) => !Object.hasOwn(now, name))).toEqual([]);
});

/**
 * In 0.1.0 vendors that callers name had callback paths beneath /v1/callback, or that path itself.
 * One callback path beneath another is a vulnerability, so these flows are the exception: they end,
 * and the client starts again (docs/versioning.md).
 */
describe("a flow of then at a vendor that the caller named", () => {
  const ENDPOINTS = {
    authorization_endpoint: "https://tenant.example/authorize",
    token_endpoint: "https://tenant.example/token",
  };
  const FORM = { vendor: "", ...ENDPOINTS, vendor_client_id: "mine", vendor_client_secret: "their secret" };
  const CONTEXT = "c".repeat(22);

  /** The hash as 0.1.0 computed it: it covers the redirect URI. */
  function hashOfThen(path: string): string {
    const vendor = {
      ...defineVendor({ id: "custom", name: "Custom vendor" }),
      authorizationEndpoint: ENDPOINTS.authorization_endpoint,
      tokenEndpoint: ENDPOINTS.token_endpoint,
      issExpected: false,
    };
    const redirectUri = `${ISSUER}${path}`;
    const us = { clientId: "mine", credentialsId: "byoc", platformClientId: "platform" };
    return flowContextHash({ vendor, ...us, redirectUri });
  }

  async function asOfThen(flowId: string, broker: Awaited<ReturnType<typeof testBroker>>, path: string) {
    const { records, state, now } = broker.deps;
    const record = await records.get(flowKey(flowId));
    if (record === undefined) throw new Error("no such flow");
    const { stage } = record;
    const of = { v: 1, contextHash: hashOfThen(path), ...(path === "/v1/callback" ? {} : { context: CONTEXT }) };
    const remove = ["purpose", "path"];
    const from = { stage, expect: { contextHash: asFlow(record).contextHash } };
    await records.advance(flowKey(flowId), from, { stage, set: of, remove });
    const claims = { jti: flowId, contextHash: of.contextHash, issuedAt: now(), expiresAt: now() + 600 };
    return state.sign(claims);
  }

  it("gets an error that says to start again, before it leaves", async () => {
    const broker = await testBroker();
    const { body } = await broker.push(FORM);
    const flowId = /request_uri:([^.]+)\./.exec(String(body["request_uri"]))?.[1] ?? "";
    await asOfThen(flowId, broker, `/v1/callback/${CONTEXT}`);
    const { location } = await broker.get(broker.authorizePath(body["request_uri"]));
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      error: "temporarily_unavailable",
      reason: "context_changed",
      retry: "restart",
    });
  });

  it.each([
    ["on the path of then", `/v1/callback/${CONTEXT}`, 404, "not_found"],
    ["on the path of an issuer of then", "/v1/callback", 400, "context_mismatch"],
  ])("bar#XA-4 bar#XA-5 does not come back %s, and nothing is sent", async (_, path, status, reason) => {
    const broker = await testBroker();
    const { cookie } = await broker.start(FORM);
    const state = await asOfThen(/flow-([^=]+)=/.exec(cookie)?.[1] ?? "", broker, path);
    const { response, html, location } = await broker.callback({ state, code: "vendor-code" }, cookie, path);
    expect([response.status, location]).toEqual([status, undefined]);
    expect(html).toContain(`<code>${reason}</code>`);
    expect(broker.seen).toEqual([]);
  });

  it("gets an error that says to start again when it brings its code", async () => {
    const broker = await testBroker();
    const code = await broker.park(FORM);
    const flowId = /^(.+)\.[^.]*$/.exec(code)?.[1] ?? "";
    await asOfThen(flowId, broker, `/v1/callback/${CONTEXT}`);
    expect((await broker.redeem(code)).body).toMatchObject({ error: "invalid_grant", reason: "context_changed" });
    expect(broker.seen).toEqual([]);
  });
});
