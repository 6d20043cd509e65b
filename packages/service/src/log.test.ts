import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OAuthError, Secret } from "@oauth-broker/oauth-core";
import { anyText } from "@oauth-broker/oauth-core/testing";
import { createLog, errorFields, type LogFields } from "./log.ts";

const CANARY = "canary-9f2c";

function capture() {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  return {
    log,
    lines,
    last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? "{}") as Record<string, unknown>,
  };
}

/** Values a caller could pass against the types: through a type assertion, a spread, or plain JavaScript. */
const untyped = (fields: object): LogFields => fields;

describe("createLog", () => {
  it("writes one JSON line with level, time and event", () => {
    const { log, lines, last } = capture();
    log.info("request", { flowId: "abc", status: 201, durationMs: 1.5, sandbox: true });
    expect(lines).toEqual([expect.stringMatching(/^[^\n]+\n$/)]);
    expect(last()).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      event: "request",
      flow_id: "abc",
      status: 201,
      duration_ms: 1.5,
      sandbox: true,
    });
  });

  it("names the level", () => {
    const { log, lines } = capture();
    log.info("a");
    log.warn("b");
    log.error("c");
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(["info", "warn", "error"]);
  });

  it("bar#TS-17 drops fields that are not listed and values that are not plain", () => {
    const { log, lines, last } = capture();
    const secret = new Secret(CANARY);
    log.info(
      "request",
      untyped({
        accessToken: CANARY,
        authorization: `Bearer ${CANARY}`,
        __proto__: { vendor: CANARY },
        level: CANARY,
        time: CANARY,
        event: CANARY,
        clientId: secret,
        vendor: { nested: { token: CANARY } },
        owner: [CANARY],
        flowId: () => CANARY,
        error: new Error(CANARY),
        reason: undefined,
        leg: null,
        status: Number.NaN,
        count: "7",
        sandbox: 1,
      }),
    );
    expect(lines.join("")).not.toContain(CANARY);
    expect(Object.keys(last()).toSorted()).toEqual(["event", "level", "time"]);
  });

  it("bar#OB-2 cuts queries, fragments and user information from text", () => {
    const { log, lines, last } = capture();
    log.info("request", {
      route: `/v1/callback?code=${CANARY}&state=x`,
      url: `https://user:${CANARY}@broker.example.com/`,
    });
    log.error("failed", { detail: `GET https://vendor.example/cb#access_token=${CANARY} answered 400` });
    expect(lines.join("")).not.toContain(CANARY);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      route: "/v1/callback?[cut]",
      url: "https://[cut]@broker.example.com/",
    });
    expect(last()["detail"]).toBe("GET https://vendor.example/cb?[cut] answered 400");
  });

  it("writes no control characters, also not those JSON leaves alone, and cuts long text", () => {
    const { log, lines, last } = capture();
    const long = "x".repeat(5_000);
    log.info("request\nforged", { reason: "a\n\u001b[31m\u009b\u2028\u202e\ud800b", vendor: long, detail: long });
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\u2028]+\n$/u);
    expect(lines[0]).not.toMatch(/\\u00|\\n/);
    expect(last()["event"]).toBe("request forged");
    expect(last()["vendor"]).toHaveLength(256);
    // A sentence of our own ends with what to do.
    expect(last()["detail"]).toHaveLength(1_000);
  });

  it("flushes warnings and errors as the turn ends, other lines when asked", async () => {
    const calls: string[] = [];
    const log = createLog({
      write: () => undefined,
      flush: () => void calls.push("flush"),
      flushSync: () => void calls.push("flushSync"),
    });
    log.info("a");
    expect(calls).toEqual([]);
    log.warn("b");
    log.error("c");
    log.flush();
    // Before: otherwise its lines would overtake those of the warnings.
    expect(calls).toEqual(["flushSync"]);
    await Promise.resolve();
    expect(calls).toEqual(["flushSync", "flush", "flush"]);
  });

  it("survives a destination that cannot flush any more", () => {
    const log = createLog({
      write: () => undefined,
      flushSync: () => {
        throw new Error("gone");
      },
    });
    expect(() => log.flush()).not.toThrow();
  });

  it.each([
    ["process.exit()", "process.exit(0)", 0],
    ["nothing left to do", "", 0],
    ["an uncaught error", "setImmediate(() => { throw new Error('uncaught') })", 1],
    ["a signal to a service", "await service(); process.kill(process.pid, 'SIGTERM')", 0],
    ["an uncaught error of a service", "await service(); setImmediate(() => { throw new Error('uncaught') })", 1],
  ])("loses nothing that is still buffered when the process ends by %s", (_name, end, exitCode) => {
    const module = (name: string): string => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));
    const script = `const { createLog } = await import(${module("log.ts")});
      const { runService } = await import(${module("run-service.ts")});
      const log = createLog();
      const service = () => runService(async () => ({ stop: async () => {} }), log);
      for (let count = 0; count < 500; count += 1) log.info("request", { count });
      ${end};`;
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(status).toBe(exitCode);
    expect(stdout.split("\n").filter((line) => line.includes('"request"'))).toHaveLength(500);
  });
});

describe("a log line", () => {
  const at = Date.UTC(2026, 1, 3, 4, 5, 6, 7);
  const line = (event: string, fields: LogFields): string => {
    let written = "";
    createLog({ write: (text) => void (written += text) }, () => at).info(event, fields);
    return written;
  };
  const texts = fc.oneof(
    fc.string(),
    anyText(fc),
    fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
    fc.string({ unit: fc.constantFrom('"', "\\", "/", "?", "#", "@", "=", "\u007f", "\u2028", "\ud800", "a") }),
    fc.string({ minLength: 200, maxLength: 300 }),
  );
  const anyNumber = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());

  it("is what JSON.stringify makes of its object", () => {
    fc.assert(
      fc.property(texts, texts, anyNumber, fc.boolean(), (event, text, number, truth) => {
        const written = line(event, { flowId: text, detail: text, durationMs: number, sandbox: truth });
        expect(written).toBe(`${JSON.stringify(JSON.parse(written))}\n`);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps plain text, numbers and truth values, in the order given", () => {
    const plain = fc.string({ maxLength: 256 }).map((text) => text.replace(/[?#@]/g, ""));
    fc.assert(
      fc.property(plain, plain, anyNumber, fc.boolean(), (event, reason, count, sandbox) => {
        const object = { level: "info", time: new Date(at).toISOString(), event, reason, count, sandbox };
        expect(line(event, { reason, count, sandbox })).toBe(`${JSON.stringify(object)}\n`);
      }),
    );
  });

  it("has the time to the millisecond, also backwards", () => {
    const times = [0, 1, 999, 1000, 59_999, at, at + 1, at + 993, at - 1, at, at + 86_400_000];
    const lines: string[] = [];
    const log = createLog({ write: (text) => void lines.push(text) }, () => times[lines.length] ?? 0);
    for (const _ of times) log.info("tick");
    expect(lines.map((text) => (JSON.parse(text) as { time: string }).time)).toEqual(
      times.map((time) => new Date(time).toISOString()),
    );
  });
});

describe("errorFields", () => {
  it("bar#OB-2 logs name, code, our detail and causes, never a message", () => {
    const root = Object.assign(new Error(`connect to https://vendor.example/?token=${CANARY}`), {
      code: "ECONNREFUSED",
    });
    const middle = new TypeError(`fetch failed: ${CANARY}`, { cause: root });
    const error = new OAuthError("temporarily_unavailable", "The vendor does not respond", {
      detail: "vendor.example:443",
      cause: middle,
    });
    const fields = errorFields(error);
    expect(JSON.stringify(fields)).not.toContain(CANARY);
    expect(fields).toMatchObject({
      errorName: "OAuthError",
      errorCode: "temporarily_unavailable",
      detail: "vendor.example:443",
      causes: "TypeError < Error(ECONNREFUSED)",
    });
    expect(fields.stackTop).toMatch(/^src\/log\.test\.ts(\?[^:]+)?:\d+/);
  });

  it("takes the detail of our own errors only", () => {
    const foreign = Object.assign(new Error("x"), { detail: CANARY });
    expect(JSON.stringify(errorFields(foreign))).not.toContain(CANARY);
  });

  it("takes a message that looks like a stack frame for a message", () => {
    const error = new Error(`boom\n    at ${CANARY} (/srv/${CANARY}.ts:1:1)\n    at /srv/${CANARY}:2:2`);
    const fields = errorFields(error);
    expect(JSON.stringify(fields)).not.toContain(CANARY);
    expect(fields.stackTop).toMatch(/^src\/log\.test\.ts(\?[^:]+)?:\d+/);
  });

  it.each(["harmless", ""])("has no frames for an error whose message was changed to %j afterwards", (message) => {
    const error = new Error(`${CANARY}\n    at ${CANARY} (/srv/${CANARY}.ts:1:1)`);
    expect(error.stack).toContain(CANARY);
    error.message = message;
    expect(errorFields(error)).toMatchObject({ errorName: "Error", stackTop: undefined });
    expect(JSON.stringify(errorFields(error))).not.toContain(CANARY);
  });

  it("has frames for an error without message", () => {
    // As Node writes it; the test runner's own stacks differ.
    const error = Object.assign(new Error(), {
      stack: "Error\n    at run (file:///srv/app/main.js:3:4)\n    at node:internal/x:1:2",
    });
    expect(errorFields(error).stackTop).toBe("app/main.js:3 < node:internal/x:1");
  });

  it("does not log names and codes of foreign errors unchecked", () => {
    const error = Object.assign(new Error("x"), {
      name: `Bad ${CANARY}`,
      code: `E ${CANARY}`,
      cause: { [CANARY]: CANARY },
    });
    expect(errorFields(error)).toMatchObject({ errorName: "Error", errorCode: undefined, causes: undefined });
    expect(errorFields(CANARY)).toEqual({ errorName: "string" });
    expect(errorFields(undefined)).toEqual({ errorName: "undefined" });
  });

  it("ends with causes that refer to themselves", () => {
    const error: Error = new Error("x");
    error.cause = error;
    expect(errorFields(error).causes).toBe("Error < Error < Error < Error");
  });
});
