import { mkdirSync, readFileSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "@oauth-broker/service";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { folderOf } from "../config/testing/config-file.ts";
import { configuration, NOW, testBroker, type TestBrokerOptions, testClient } from "../testing/test-broker.ts";
import { as } from "../testing/registering-broker.ts";
import { openAudit } from "./audit.ts";

type Line = Readonly<Record<string, string | number>>;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

async function auditedBroker(options: TestBrokerOptions = {}) {
  const path = join(folderOf(), "audit.jsonl");
  const clients = [{ ...testClient("platform"), owner: "acme-corp" }];
  const broker = await testBroker({ ...options, config: { clients, audit: { kind: "file", path } } });
  onTestFinished(() => broker.close());
  /** What is in the file, without what each line has. */
  const events = (): Line[] =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const { stream: _, chain: _c, seq: _s, prev: _p, trace_id: _t, ...rest } = JSON.parse(line) as Line;
        return rest;
      });
  const logged = (event: string): Line[] =>
    broker.lines.map((line) => JSON.parse(line) as Line).filter((line) => line["event"] === event);
  return { ...broker, path, events, logged };
}

const time = new Date(NOW * 1000).toISOString().replace(".000", "");
const refreshing = { grant_type: "refresh_token", refresh_token: "a refresh token", vendor: "acme" };

describe("the audit stream", () => {
  it("has a line for each step of a flow, with client, vendor, time and flow", async () => {
    const vendor = { revocationEndpoint: "https://acme.example/revoke" };
    const broker = await auditedBroker({ vendor });
    await broker.connect();
    await broker.post("/v1/token", refreshing);
    await broker.post("/v1/revoke", { token: "a refresh token", vendor: "acme" });
    const client = { time, outcome: "ok", client_id: "platform", owner: "acme-corp" };
    const [, { flow_id: flowId } = {}] = broker.events();
    const flow = { ...client, vendor: "acme", credentials_id: "2026", flow_id: flowId };
    const authenticated = { ...client, event: "client_authenticated" };
    expect(broker.events()).toEqual([
      authenticated,
      { ...flow, event: "flow_started" },
      { ...flow, event: "consent_given" },
      { ...authenticated, flow_id: flowId },
      { ...flow, event: "tokens_issued" },
      authenticated,
      { ...client, vendor: "acme", credentials_id: "2026", event: "tokens_refreshed" },
      authenticated,
      { ...client, vendor: "acme", credentials_id: "2026", event: "revoked", reason: "token" },
    ]);
    expect(flowId).toMatch(/^[\w-]{22}$/);
  });

  it("records the code and reason of a refusal, as JSON, page or redirect", async () => {
    const broker = await auditedBroker();
    await broker.push({ vendor: "unknown" });
    await broker.post("/v1/token", { grant_type: "password" });
    const { state, cookie } = await broker.start();
    await broker.callback({ state, code: "c" });
    await broker.callback({ state, error: "access_denied" }, cookie);
    await broker.app.request("https://broker.example/v1/vendors", { headers: { authorization: "Basic eDp5" } });
    const refused = broker.events().filter(({ event }) => event === "refused");
    expect(refused.map(({ outcome, reason, client_id }) => [outcome, reason, client_id])).toEqual([
      ["invalid_request", undefined, "platform"],
      ["unsupported_grant_type", undefined, "platform"],
      ["invalid_request", "browser_mismatch", "platform"],
      ["access_denied", undefined, "platform"],
      ["invalid_client", undefined, undefined],
    ]);
    expect(broker.events().some(({ event }) => event === "consent_given")).toBe(false);
  });

  it("has a client beyond its limit once a minute, and nothing else of what it sends then", async () => {
    const broker = await auditedBroker({ limits: { parPerMinute: 5 } });
    for (let at = 0; at < 50; at += 1) await broker.push();
    const counted = (): Record<string, number> => {
      const kinds = Map.groupBy(broker.events(), ({ event, outcome }) => `${event} ${outcome}`);
      return Object.fromEntries([...kinds].map(([kind, all]) => [kind, all.length]));
    };
    expect(counted()).toEqual({ "client_authenticated ok": 5, "flow_started ok": 5, "refused slow_down": 1 });
    broker.now.advance(60);
    for (let at = 0; at < 50; at += 1) await broker.push();
    expect(counted()).toEqual({ "client_authenticated ok": 10, "flow_started ok": 10, "refused slow_down": 2 });
  });

  it("records no probe and no scrape, and who read the vendors with credentials", async () => {
    const broker = await auditedBroker();
    for (const path of ["/healthz", "/readyz", "/metrics", "/v1/vendors", "/", "/nowhere"]) await broker.get(path);
    expect(broker.events()).toEqual([]);
    await broker.app.request("https://broker.example/v1/vendors/acme", { headers: as("platform") });
    expect(broker.events()).toMatchObject([{ event: "client_authenticated", client_id: "platform" }]);
  });

  it("has the key that a rotation put into use", async () => {
    const broker = await auditedBroker();
    const { keyset } = broker.deps;
    const { kid, activeFrom } = await keyset.rotate();
    await keyset.load();
    expect(broker.events()).toEqual([]);
    broker.now.advance(activeFrom - broker.now());
    await keyset.load();
    await keyset.load();
    await vi.waitFor(() => expect(broker.events()).toMatchObject([{ event: "keys_rotated", kid }]));
  });

  it("has the trace of the request", async () => {
    const { path, deps } = await auditedBroker();
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    await deps.audit.record("flow_started", { clientId: "platform", traceId });
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ client_id: "platform", trace_id: traceId });
  });

  it("bar#OB-2 bounds and cleans every value as the log does", async () => {
    const { path, ...broker } = await auditedBroker();
    const reason = `https://u:p@host/x?code=secret\n${"x".repeat(1_000)}`;
    await broker.deps.audit.record("refused", { outcome: "invalid_request", reason, vendor: 'a"b\u2028c' });
    const text = readFileSync(path, "utf8");
    expect(text.split("\n")).toHaveLength(2);
    expect(text).not.toMatch(/secret|u:p@/);
    expect(broker.events()[0]?.["vendor"]).toBe('a"b c');
    expect(String(broker.events()[0]?.["reason"]).length).toBeLessThan(257);
  });

  it("leaves its head in the log each minute, if it has changed, and at the end", async () => {
    const broker = await auditedBroker();
    const minute = (): unknown => vi.advanceTimersByTime(60_000);
    minute();
    expect(broker.logged("audit_head")).toEqual([]);
    await broker.push();
    minute();
    minute();
    expect(broker.logged("audit_head")).toMatchObject([{ seq: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    await broker.push();
    await broker.close();
    expect(broker.logged("audit_head").map(({ seq }) => seq)).toEqual([2, 4]);
  });
});

describe("while nothing can be recorded", () => {
  /** @returns `repair`: the file can be written again */
  const breakFile = (path: string): (() => void) => {
    renameSync(path, `${path}.1`);
    mkdirSync(path);
    vi.advanceTimersByTime(1_000);
    return () => {
      rmdirSync(path);
      vi.advanceTimersByTime(1_000);
    };
  };

  it("refuses before anything is spent and no vendor is called, and goes on when it can", async () => {
    const broker = await auditedBroker();
    const [code, { path: authorizePath }] = [await broker.park(), await broker.start()];
    const atVendor = await broker.start();
    const { length: calls } = broker.seen;
    const repair = breakFile(broker.path);
    const unavailable = { error: "temporarily_unavailable", reason: "audit_unavailable" };
    for (const { response, body } of [
      await broker.redeem(code),
      await broker.post("/v1/token", refreshing),
      await broker.push(),
      await broker.post("/v1/revoke", { token: "t", vendor: "acme" }),
    ]) {
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(body).toMatchObject(unavailable);
    }
    expect((await broker.get(authorizePath)).response.status).toBe(503);
    const parameters = { state: atVendor.state, code: "vendor-code" };
    expect((await broker.callback(parameters, atVendor.cookie)).response.status).toBe(503);
    expect((await broker.get("/readyz")).response.status).toBe(503);
    expect((await broker.get("/healthz")).response.status).toBe(200);
    expect(broker.seen).toHaveLength(calls);
    expect(broker.logged("audit_unavailable")).toMatchObject([{ level: "error", file: broker.path }]);

    repair();
    expect((await broker.get("/readyz")).response.status).toBe(200);
    expect((await broker.redeem(code)).body).toMatchObject({ access_token: "at" });
    expect((await broker.callback(parameters, atVendor.cookie)).location?.searchParams.get("code")).toBeTruthy();
    expect(broker.logged("audit_available")).toHaveLength(1);
    const events = broker.events().map(({ event }) => event);
    expect(events).toEqual(["client_authenticated", "tokens_issued", "consent_given"]);
  });

  it("hands out no tokens issued in the meantime, and asks for a restart", async () => {
    let meanwhile = (): void => undefined;
    const broker = await auditedBroker({
      vendorAnswers: async () => {
        meanwhile();
        return Response.json({ access_token: "at", token_type: "bearer", refresh_token: "rotated" });
      },
    });
    const code = await broker.park();
    let repair = (): void => undefined;
    meanwhile = () => (repair = breakFile(broker.path));
    const { response, body } = await broker.redeem(code);
    expect(response.status).toBe(503);
    expect(body).toMatchObject({ error: "temporarily_unavailable", reason: "audit_unavailable", retry: "restart" });
    repair();

    // A refresh can be repeated: its answer is kept for the caller.
    const refreshed = await broker.post("/v1/token", refreshing);
    expect(refreshed.body).toMatchObject({ reason: "audit_unavailable" });
    expect(refreshed.body).not.toHaveProperty("retry");
    const { length: calls } = broker.seen;
    repair();
    expect((await broker.post("/v1/token", refreshing)).body).toMatchObject({ refresh_token: "rotated" });
    expect(broker.seen).toHaveLength(calls);
  });
});

it("audit: stdout goes where the log goes, at once", async () => {
  const lines: string[] = [];
  let flushes = 0;
  const stdout = { write: (line: string) => void lines.push(line), flush: () => void (flushes += 1) };
  const log = createLog(stdout);
  const config = { ...configuration({}), audit: { kind: "stdout" } as const };
  const audit = openAudit(config, { now: fixedClock(NOW), log, stdout });
  await audit.record("configuration_loaded");
  log.info("listening");
  await audit.record("keys_rotated", { kid: "k" });
  await vi.waitFor(() => expect(flushes).toBe(1));
  audit.close();
  expect(lines.map((line) => (JSON.parse(line) as Line)["event"])).toEqual([
    "configuration_loaded",
    "listening",
    "keys_rotated",
    "audit_head",
  ]);
  expect(() => openAudit(config, { now: fixedClock(NOW), log })).toThrow(TypeError);
});

it("audit: off records nothing and refuses nothing", async () => {
  const { deps, connect, get } = await testBroker();
  expect((await connect()).response.status).toBe(200);
  deps.audit.requireWritable();
  expect((await get("/readyz")).response.status).toBe(200);
});
