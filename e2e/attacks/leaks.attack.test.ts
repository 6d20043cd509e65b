/**
 * Attacker: a reader of what is written down: the log, the metrics, a copy of the store, with or
 * without the keys beside it. Goal: a code, a token, a verifier, a secret. Defence: the log accepts
 * a list of fields and nothing else; of values that must be presented only the hash is stored; and
 * a vendor's code waits sealed (seal) under a key derived from the broker's code (deriveKey), which
 * is stored nowhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readTimeline } from "@oauth-broker/broker/src/cli/timeline.ts";
import { deriveKey, localKeyWrapper, open } from "@oauth-broker/token-store";
import * as envelopeModule from "../../packages/token-store/src/crypto/envelope.ts";
import { describe, expect, it, vi } from "vitest";
import { EVIL, type Exchange, HONEST, PLATFORMS, VENDOR_CLIENT } from "./support/names.ts";
import { textMember } from "../support/text-member.ts";
import { without } from "./support/outcomes.ts";
import { atCallback, openScene, parameter, recordOf, type Scene } from "./support/actors.ts";
import type { Fixture } from "./support/fixture.ts";

const setUp = (entry: object = {}): Promise<Scene> =>
  openScene({
    entries: { honest: { name: "Honest", issuer: HONEST, ...entry } },
    config: { store: "sqlite:./broker.sqlite" },
  });

/** A flow, leg by leg, and every secret of it that exists so far. */
async function runFlow(harness: Scene, afterLeg: (leg: string, secrets: Secrets) => void) {
  const { fixture, honest, backend, victim } = harness;
  const secrets: Secrets = new Map([
    ["client secret", PLATFORMS.platform.secret],
    ["vendor secret", VENDOR_CLIENT.clientSecret],
  ]);
  const flow = await backend.push();
  secrets.set("code_verifier", flow.codeVerifier);
  secrets.set("request_uri", flow.requestUri.slice(-43));
  afterLeg("pushed", secrets);
  const { url } = await victim.visit(backend.startUrl(flow), atCallback);
  secrets.set("state JWT", parameter(url, "state"));
  secrets.set("cookie", victim.jar.get(url, `__Host-flow-${flow.flowId}`) ?? "");
  secrets.set("vendor's code", parameter(url, "code"));
  afterLeg("started", secrets);
  const code = parameter((await victim.visit(url)).url, "code");
  secrets.set("broker's code", code.split(".")[1] ?? "");
  keepTokens(honest.tokens);
  afterLeg("parked", secrets);
  const { body } = await backend.redeem(code, flow.codeVerifier);
  keepTokens(honest.tokens);
  secrets.set("verifier at the vendor", honest.tokenRequests[0]?.form.get("code_verifier") ?? "");
  secrets.set("connection", String(body["connection"]));
  afterLeg("spent", secrets);
  const [, refreshToken = ""] = honest.tokens;
  const refreshed = await backend.refresh({ refreshToken, connection: String(body["connection"]) });
  keepTokens(honest.tokens);
  secrets.set("connection after refresh", String(refreshed.body["connection"]));
  afterLeg("refreshed", secrets);
  await fixture.request("/metrics");
  return { flow, code, secrets, refreshToken };

  function keepTokens(tokens: readonly string[]): void {
    for (const [index, token] of tokens.entries()) secrets.set(`token ${index}`, token);
  }
}
type Secrets = Map<string, string>;

/** @returns the names of the secrets that the text contains, as they are or in a common encoding */
function found(text: string, secrets: Secrets): string[] {
  return [...secrets].flatMap(([name, value]) => {
    const forms = [
      value,
      encodeURIComponent(value),
      Buffer.from(value).toString("base64url"),
      Buffer.from(value).toString("hex"),
    ];
    return value !== "" && forms.some((form) => text.includes(form)) ? [name] : [];
  });
}

/** All files of the store as text, without the key beside it. */
function dumpStore({ folder }: Fixture): string {
  const files = readdirSync(folder).filter((name) => name.startsWith("broker.sqlite") && !name.endsWith(".key"));
  return files.map((name) => readFileSync(join(folder, name), "latin1")).join("\n");
}

describe("what the store holds", () => {
  it.each([
    ["a vendor's code", {}],
    ["a vendor's tokens, where its codes die too fast to wait", { redeem_at: "callback" }],
  ])("bar#OB-2 is no secret after any leg, while it keeps %s", async (_what, entry) => {
    const harness = await setUp(entry);
    const leaks: string[] = [];
    const legs: string[] = [];
    await runFlow(harness, (leg, secrets) => {
      const dump = dumpStore(harness.fixture);
      legs.push(leg);
      leaks.push(...found(dump, secrets).map((name) => `${name} after ${leg}`));
    });
    expect(legs).toEqual(["pushed", "started", "parked", "spent", "refreshed"]);
    expect(leaks).toEqual([]);
    expect(dumpStore(harness.fixture)).toContain("honest");
  });

  it("bar#OB-2 has no secret after a flow that was refused, cancelled or wrong", async () => {
    const harness = await setUp();
    const { backend, victim, fixture, honest } = harness;
    const secrets: Secrets = new Map();
    for (const index of [0, 1, 2]) {
      const { flow, url } = await backend.start(victim, atCallback);
      if (index === 0) url.searchParams.set("iss", EVIL);
      if (index === 1) url.searchParams.set("error", "access_denied");
      const back = await victim.visit(url);
      const code = back.url.searchParams.get("code");
      if (code !== null) await backend.redeem(code, "w".repeat(43));
      secrets.set(`verifier ${index}`, flow.codeVerifier).set(`code ${index}`, honest.codes[index] ?? "");
    }
    expect(found(dumpStore(fixture) + fixture.logLines.join(""), secrets)).toEqual([]);
  });

  it("bar#OB-2 twin: without seal a copy of the store has the vendor's code in clear", async () => {
    const harness = await setUp();
    const { backend, victim, fixture, honest } = harness;
    without(envelopeModule, () => ({ seal: (_key, plaintext) => String(plaintext) }));
    await backend.start(victim);
    expect(dumpStore(fixture)).toContain(honest.codes[0]);
  });
});

describe("what store and keys together open", () => {
  interface Sealed {
    readonly value: string;
    readonly context: readonly string[];
  }

  /**
   * Everything from which a thief of both could derive keys: the keyset's secrets, and every text
   * found.
   */
  async function thiefsKeys({ folder }: Fixture, records: readonly object[]): Promise<Buffer[]> {
    const store = new DatabaseSync(join(folder, "broker.sqlite"), { readOnly: true });
    const keyset = store.prepare("select data from records where kind = 'keyset'").get() ?? {};
    store.close();
    const data = JSON.parse(String(keyset["data"])) as Record<string, string>;
    const { wrapped = "", sealed = "", baseUrl = "", environment = "", table = "", revision } = data;
    const wrapper = localKeyWrapper({ path: join(folder, "broker.sqlite.key") });
    const dataKey = await wrapper.unwrap(wrapped, { purpose: "keyset", base_url: baseUrl, environment, table });
    const text = String(open(dataKey, sealed, ["keyset 2", baseUrl, environment, table, String(revision)]));
    const words = new Set([text, JSON.stringify(records)].flatMap((json) => json.match(/[A-Za-z0-9_.-]{6,}/g) ?? []));
    const secrets: (string | Buffer)[] = [...words].flatMap((word) => [word, Buffer.from(word, "base64url")]);
    const purposes =
      `state flow connection connection-tokens refresh-token record-mac parked-tokens parked-code refresh-replay`.split(
        " ",
      );
    const infos = purposes.flatMap((purpose) => [purpose, `oauth-broker/${purpose}`]);
    const derived = secrets.flatMap((secret) =>
      secret.length === 0 ? [] : infos.map((info) => deriveKey(secret, info)),
    );
    const twice = derived.flatMap((key) => [deriveKey(key, "parked-tokens"), deriveKey(key, "parked-code")]);
    return [
      dataKey,
      ...secrets.filter((secret) => typeof secret !== "string" && secret.length === 32),
      ...derived,
      ...twice,
    ].map((key) => Buffer.from(key));
  }

  function opened(keys: readonly Buffer[], { value, context }: Sealed): string | undefined {
    for (const key of keys) {
      try {
        return open(key, value, context).toString("utf8");
      } catch {
        // The next generation.
      }
    }
    return undefined;
  }

  /** A flow before its last leg, and what a thief has then. */
  async function parked(entry: object) {
    const harness = await setUp(entry);
    const { flow, url } = await harness.backend.start(harness.victim);
    const code = parameter(url, "code");
    const record = await recordOf(harness.fixture, flow);
    if (record === undefined) throw new Error("no record");
    const sealed = textMember(record.data, "sealed");
    const dot = sealed.indexOf(".");
    const context = ["flow", flow.flowId, dot < 0 ? "code" : "tokens"];
    return {
      ...harness,
      code,
      kid: sealed.slice(0, Math.max(dot, 0)),
      keys: await thiefsKeys(harness.fixture, [record]),
      sealed: { value: sealed.slice(dot + 1), context },
    };
  }

  it("bar#OB-2 is not the parked code: that takes the broker's own code, which is nowhere", async () => {
    const { keys, sealed, code, honest } = await parked({});
    expect(keys.length).toBeGreaterThan(200);
    expect(opened(keys, sealed)).toBeUndefined();
    expect(opened([deriveKey(code, "parked-code")], sealed)).toContain(honest.codes[0]);
  });

  it("are not the parked tokens of a vendor that redeems at the callback", async () => {
    const { keys, sealed, code, kid, fixture, honest } = await parked({ redeem_at: "callback" });
    expect(opened(keys, sealed)).toBeUndefined();
    const ours = (await fixture.broker.deps.keyset.find("parked-tokens", kid)) ?? Buffer.alloc(0);
    const both = deriveKey(Buffer.concat([ours, Buffer.from(code)]), "parked-tokens");
    expect(opened([both], sealed)).toContain(honest.tokens[0]);
  });

  it("is not the answer kept for a repeated refresh: that takes the refresh token", async () => {
    const harness = await setUp();
    const { records } = harness.fixture.broker.deps;
    const created = vi.spyOn(records, "create");
    const { refreshToken } = await runFlow(harness, () => undefined);
    const id = created.mock.calls.find(([{ key }]) => key.kind === "refresh")?.[0].key.id ?? "";
    const record = await records.get({ kind: "refresh", id });
    const sealed = { value: textMember(record?.data ?? {}, "sealed"), context: ["refresh", id] };
    expect(opened(await thiefsKeys(harness.fixture, [record ?? {}]), sealed)).toBeUndefined();
    expect(opened([deriveKey(refreshToken, "refresh-replay")], sealed)).toContain(harness.honest.tokens.at(-1));
  });

  it("bar#OB-2 twin: if deriveKey ignores the broker's code the thief has the vendor's", async () => {
    without(envelopeModule, ({ deriveKey }) => ({ deriveKey: (_secret, info) => deriveKey("any secret", info) }));
    const { keys, sealed, honest } = await parked({});
    expect(opened(keys, sealed)).toContain(honest.codes[0]);
  });
});

describe("what is written and answered", () => {
  /** By path: the secrets that its answer is meant to return. */
  const DUE: Record<string, readonly string[]> = {
    "/v1/par": ["request_uri"],
    "/v1/authorize": ["state JWT", "cookie"],
    "/v1/callback": ["broker's code"],
    "/v1/token": ["token 0", "token 1", "token 2", "token 3", "connection", "connection after refresh"],
  };

  function leaksOf(exchanges: readonly Exchange[], secrets: Secrets): string[] {
    return exchanges.flatMap(({ url, headers, body }) => {
      const { pathname } = new URL(url);
      const held = found(`${JSON.stringify([...headers])}${body}`, secrets);
      return held.filter((name) => DUE[pathname]?.includes(name) !== true).map((name) => `${name} from ${pathname}`);
    });
  }

  it("bar#OB-2 holds no secret in the log, the metrics, the timeline, or another answer", async () => {
    const harness = await setUp();
    const { fixture } = harness;
    const { secrets, flow } = await runFlow(harness, () => undefined);
    expect(leaksOf(fixture.exchanges, secrets)).toEqual([]);
    expect(found(fixture.logLines.join(""), secrets)).toEqual([]);
    const timeline = JSON.stringify(await readTimeline(flow.flowId, fixture.broker.deps.records));
    expect(timeline).toContain("spent");
    expect(found(timeline, secrets)).toEqual([]);
    expect(fixture.logLines.length).toBeGreaterThan(4);
  });
});
