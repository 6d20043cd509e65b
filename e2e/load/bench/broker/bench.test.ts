/**
 * Runs the bench: far too short to say anything about speed, long enough to fail when a subject
 * answers wrongly.
 */
import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { listen, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { readCommand } from "@oauth-broker/oauth-core/command-line";
import { cpuMicroseconds } from "../../machine.ts";
import { outcomeTable } from "../../report.ts";
import { commandLineOf, OPTIONS } from "../options.ts";
import { partsOf, partsTable } from "./profile.ts";
import { requireChecks } from "./probe.ts";
import { spreadOf } from "../../spread.ts";
import { BROKER_BUNDLE } from "../../../support/paths.ts";
import { benchBroker, brokerWorks } from "./part.ts";
import { benchMcp, MCP_WORKS } from "../mcp/part.ts";
import { isSteady, outcomesOf, type Round, warmUp } from "../../rounds.ts";

/** Starts five servers, then four and an engine; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run"] });
describe.each(RUNS)("%s", () => {
  const size = { count: 8, rounds: 1, warmUp: 0 };

  it("measures the floor, and two builds of the broker on both stores, in the same rounds", async () => {
    const lines: string[] = [];
    const against = { commit: "0".repeat(40), broker: BROKER_BUNDLE, mcp: "", remove: () => undefined };
    const { outcomes } = await benchBroker({ against }, size, (line) => lines.push(line));
    expect(lines).toHaveLength(18);
    expect(outcomes).toHaveLength(18);
    for (const { figures } of outcomes) {
      expect(figures.cpuMicroseconds?.median).toBeGreaterThan(0);
      expect(figures.busyPercent?.median).toBeGreaterThan(0);
    }
    const comparisons = outcomes.flatMap(({ name, comparisons }) => comparisons.map((one) => ({ name, ...one })));
    for (const { ratio } of comparisons) expect(ratio.median).toBeGreaterThan(0);
    expect(comparisons.filter(({ limit }) => limit !== undefined)).toHaveLength(8);
    expect(comparisons.filter(({ name, to }) => to === name.replace("broker", "before"))).toHaveLength(8);
  });

  it("measures every server without auth and with it", async () => {
    const { outcomes } = await benchMcp(undefined, size, () => undefined);
    expect(outcomes.map(({ name }) => name)).toEqual(MCP_WORKS.map(({ name }) => name));
    for (const { figures } of outcomes) {
      expect(figures.cpuMicroseconds?.median).toBeGreaterThan(0);
      expect(figures.perSecond?.median).toBeGreaterThan(0);
      expect(figures.p99Milliseconds?.median).toBeGreaterThan(0);
    }
  });
});

describe("the probe", () => {
  const parties = {
    clientId: "platform",
    clientSecret: "s".repeat(43),
    redirectUri: "https://platform.example/callback",
    vendor: {
      id: "bench",
      authorizationEndpoint: "http://vendor.example/authorize",
      tokenEndpoint: "http://vendor.example/token",
      clientId: "broker",
      clientSecret: "v".repeat(43),
      scope: "read write",
    },
  };

  it("refuses a subject that is fast because it stores and checks nothing", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/v1/par") json(response, 201, { request_uri: `${REQUEST_URI}x`, expires_in: 300 });
      else response.writeHead(303, { location, "set-cookie": `flow-x=${"c".repeat(43)}` }).end();
    });
    const { port, close } = await listen(server);
    const url = `http://127.0.0.1:${port}`;
    const parameters = new URLSearchParams({
      response_type: "code",
      client_id: "broker",
      redirect_uri: `${url}/v1/callback`,
      scope: "read write",
      state: "s".repeat(43),
      code_challenge: createHash("sha256").digest("base64url"),
      code_challenge_method: "S256",
    });
    const location = `${parties.vendor.authorizationEndpoint}?${parameters.toString()}`;
    await expect(requireChecks(url, parties)).rejects.toMatchObject({ cause: { message: "request_uri worked twice" } });
    await close();
  });

  const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

  function json(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }
});

describe("the warm-up", () => {
  const blocks = (...costs: readonly number[]) => costs.map((flow) => ({ flow, refresh: 50 }));

  it("ends when no subject has become cheaper for three blocks", () => {
    expect(isSteady(blocks(200, 150, 120))).toBe(false);
    expect(isSteady(blocks(200, 150, 120, 119))).toBe(false);
    expect(isSteady(blocks(200, 150, 120, 119, 121, 118.5))).toBe(true);
    expect(isSteady(blocks(200, 120, 119, 121, 110))).toBe(false);
  });

  it("has an upper bound, which may be 0", async () => {
    let cost = 1000;
    const lines: string[] = [];
    const run = async (count: number, say: (line: string) => void) => {
      say(`${count}`);
      cost *= 0.9;
      return { flow: cost };
    };
    expect(await warmUp(30_000, run, (line) => lines.push(line))).toBe(30_000);
    expect(lines).toHaveLength(15);
    expect(lines[1]).toBe("warm-up 2  2000");
    expect(await warmUp(0, run, () => expect.fail("ran"))).toBe(0);
    expect(
      await warmUp(
        30_000,
        async () => ({ flow: 100 }),
        () => undefined,
      ),
    ).toBe(8_000);
  });
});

describe("processor time", () => {
  it("is what the operating system counts, in microseconds", () => {
    const before = cpuMicroseconds(process.pid);
    const start = process.cpuUsage();
    let used = 0;
    while (used < 100_000) {
      createHash("sha256").update(String(used)).digest();
      const { user, system } = process.cpuUsage(start);
      used = user + system;
    }
    // The system may count in steps of 10 ms.
    expect(cpuMicroseconds(process.pid) - before).toBeGreaterThanOrEqual(80_000);
    expect(cpuMicroseconds(process.pid) - before).toBeLessThan(10_000_000);
  });

  it("of a process that is gone is an error, not 0", () => {
    expect(() => cpuMicroseconds(2 ** 22 + 1)).toThrow(/4194305|ENOENT/);
  });
});

describe("figures", () => {
  const STORES = ["memory", "sqlite"];
  /** CPU of each operation on each server. */
  const round = (floor: number, memory: number, sqlite: number, before: number[] = []): Round => {
    const costs = new Map([
      ["floor", floor],
      ["memory", memory],
      ["sqlite", sqlite],
      ...before.map((cost, at) => [`${STORES[at]} before`, cost] as const),
    ]);
    const measured = brokerWorks([...costs.keys()]).map(({ work, on, name }) => {
      const more = work.endsWith("-oidc") ? (on.startsWith("memory") ? 1.2 : 1.6) : 1;
      return [name, { cpuMicroseconds: more * costs.get(on)!, busyPercent: 50 }] as const;
    });
    return Object.fromEntries(measured);
  };
  const resultsOf = (rounds: readonly Round[], before: readonly string[] = []) =>
    outcomesOf(brokerWorks(["floor", ...STORES, ...before]), rounds);
  // In the second round the whole machine was twice as slow.
  const rounds = [round(100, 130, 250), round(200, 260, 500), round(100, 150, 190)];
  const named = (name: string, outcomes = resultsOf(rounds)) => outcomes.filter((one) => one.name === name);

  it("take the median of each round's own ratio", () => {
    const [memory] = named("whole flow, broker, memory");
    expect(memory?.figures.cpuMicroseconds).toMatchObject({ min: 130, median: 150, max: 260 });
    expect(memory?.comparisons[0]?.ratio).toEqual({ min: 1.3, lower: 1.3, median: 1.3, upper: 1.4, max: 1.5 });
    expect(spreadOf([4, 1, 3, 2])).toEqual({ min: 1, lower: 1.75, median: 2.5, upper: 3.25, max: 4 });
  });

  it("compare two builds within each round, on a line of their own", () => {
    const twice = [100, 200, 300].map((before) => round(100, 130, 250, [before, 250]));
    const builds = named("whole flow, broker, memory", resultsOf(twice, ["memory before", "sqlite before"]));
    expect(builds[0]?.comparisons[1]).toMatchObject({ to: "whole flow, before, memory", ratio: { max: 1.3 } });
    expect(outcomeTable("it", builds).split("\n")[2]).toMatch(
      /^ +0\.650 \(0\.542 to 0\.975\) × whole flow, before, memory$/,
    );
    expect(resultsOf(rounds).flatMap(({ comparisons }) => comparisons)).toHaveLength(8);
  });

  it("are compared with the aims", () => {
    const all = resultsOf(rounds).flatMap(({ name, comparisons }) =>
      comparisons.map(({ to, ratio, limit = 0 }) => [name, to, ratio.median, ratio.median <= limit]),
    );
    const [flow, refresh] = ["whole flow", "refresh"];
    expect(all).toEqual([
      [`${flow}, broker, memory`, `${flow}, floor`, 1.3, true],
      [`${flow}, broker, SQLite`, `${flow}, floor`, 2.5, false],
      [`${refresh}, broker, memory`, `${refresh}, floor`, 1.3, true],
      [`${refresh}, broker, SQLite`, `${refresh}, floor`, 2.5, true],
      ["flow with ID tokens, broker, memory", `${flow}, broker, memory`, 1.2, true],
      ["flow with ID tokens, broker, SQLite", `${flow}, broker, SQLite`, 1.6, false],
      ["refresh with ID tokens, broker, memory", `${refresh}, broker, memory`, 1.2, true],
      ["refresh with ID tokens, broker, SQLite", `${refresh}, broker, SQLite`, 1.6, false],
    ]);
  });

  it("are printed one line per subject", () => {
    expect(outcomeTable("CPU of it, µs", named("whole flow, broker, SQLite")).split("\n")).toEqual([
      "CPU of it, µs               min  median  max  busy, %  × (quartiles)",
      "whole flow, broker, SQLite  190     250  500       50  2.500 (2.200 to 2.500) × whole flow, floor, aim NOT MET: at most 2.2",
    ]);
  });
});

describe("a profile", () => {
  const bundle = [
    "// ../../packages/oauth-core/src/protocol/mac.ts",
    "function hmac() {}",
    "// ../../node_modules/.pnpm/undici@8.0.0/node_modules/undici/lib/api.js",
    "function request() {}",
    "// src/flows/par.ts",
    "\tfunction par() {}",
  ].join("\n");
  const node = (id: number, functionName: string, url: string, lineNumber: number, children: number[] = []) => ({
    id,
    callFrame: { functionName, url, lineNumber, scriptId: "1", columnNumber: 0 },
    children,
  });
  const MAIN = "file:///broker/dist/main.js";
  const nodes = [
    node(1, "(root)", "", -1, [2, 3, 4, 8]),
    node(2, "(idle)", "", -1),
    node(3, "(garbage collector)", "", -1),
    node(4, "par", MAIN, 5, [5, 6]),
    node(5, "request", MAIN, 3, [7]),
    node(6, "hmac", MAIN, 1, [9]),
    node(7, "writev", "", -1),
    node(8, "emit", "node:events", 10),
    node(9, "hash", "node:internal/crypto/hash", 20),
  ];

  it("is divided among the modules of the bundle, and what Node does for each of them", () => {
    const samples = [2, 3, 4, 5, 6, 7, 8, 9];
    const parts = partsOf({ nodes, samples, timeDeltas: [900, 1, 30, 20, 19, 15, 10, 5] }, bundle);
    expect(Object.fromEntries(parts.map(({ part, share }) => [part, Math.round(share * 100)]))).toEqual({
      "apps/broker/src/flows": 30,
      undici: 20,
      "packages/oauth-core/src/protocol": 19,
      "writing to sockets": 15,
      "Node itself": 10,
      "hashes, ciphers, random values": 5,
      "garbage collection": 1,
    });
    expect(partsTable("memory", parts).split("\n").slice(0, 2)).toEqual([
      "where the CPU went, memory:",
      "  30.0 %  apps/broker/src/flows",
    ]);
  });
});

describe("the command line", () => {
  const parseCommandLine = (args: readonly string[]) => {
    const read = readCommand(args, OPTIONS, { program: "bench", help: "", version: "" }, commandLineOf);
    if ("exitCode" in read) throw new Error(read.text);
    return read;
  };

  it("has defaults and takes numbers", () => {
    const given = parseCommandLine(["--only", "store", "--flows=100", "--rounds", "2", "--warm-up=0"]);
    expect(given).toMatchObject({ parts: ["store"], flows: 100, rounds: 2, warmUp: 0 });
    expect(parseCommandLine([])).toEqual({
      parts: ["broker", "store", "mcp"],
      rounds: 9,
      flows: 2000,
      profile: false,
      count: false,
    });
  });

  it.each([["--flows=0"], ["--rounds=many"], ["--flows=1e3"], ["--speed"], ["--only=vendor"], ["--warm-up=-1"]])(
    "refuses %s",
    (argument) => {
      expect(() => parseCommandLine([argument])).toThrow(argument.split("=", 1)[0]);
    },
  );

  it("refuses --against where the broker is not measured", () => {
    expect(parseCommandLine(["--against", "HEAD", "--only", "broker"])).toMatchObject({ against: "HEAD" });
    expect(() => parseCommandLine(["--against", "HEAD", "--only", "store"])).toThrow("--against");
  });
});
