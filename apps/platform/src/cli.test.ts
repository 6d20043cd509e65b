import { describe, expect, it } from "vitest";
import { parseCommand } from "./cli.ts";
import { loadPlatformConfig, loadServeConfig, misspeltVariables, startFolder, systemVariables } from "./config.ts";
import manifest from "../package.json" with { type: "json" };

const HELP = { stream: "stdout", text: expect.stringMatching(/^Usage: platform/), exitCode: 0 };

describe("the command line", () => {
  it.each([
    [["deploy", "init"], { name: "init", folder: ".", dataDir: undefined, callback: undefined }],
    [
      ["deploy", "init", "f", "--shared-callback"],
      { name: "init", folder: "f", dataDir: undefined, callback: "shared" },
    ],
    [["deploy", "init", "--own-callback"], { name: "init", folder: ".", dataDir: undefined, callback: "own" }],
    [["deploy", "run", "notes", "--data", "d"], { name: "run", folder: "notes", dataDir: "d", allowed: [] }],
    [
      ["deploy", "run", "--env", "A", "notes", "--env=B_2"],
      { name: "run", folder: "notes", dataDir: undefined, allowed: ["A", "B_2"] },
    ],
    [["deploy", "status", "--json"], { name: "status", folder: ".", dataDir: undefined, json: true }],
    [["deploy", "logs", "--lines", "5"], { name: "logs", folder: ".", dataDir: undefined, lines: 5 }],
    [["deploy", "run", "--help"], HELP],
    [["-h"], HELP],
    [["help"], HELP],
    [["--version"], { stream: "stdout", text: manifest.version, exitCode: 0 }],
    [[], HELP],
  ])("%j is understood", (args, command) => {
    expect(parseCommand(args)).toEqual(command);
  });

  it.each([
    [["deploy"]],
    [["deploy", "start"]],
    [["deploy", "run", "a", "b"]],
    [["deploy", "run", "--json"]],
    [["deploy", "init", "--lines", "5"]],
    [["deploy", "logs", "--lines", "0"]],
    [["deploy", "logs", "--lines", "1e3"]],
    [["deploy", "run", ""]],
    [["serve", "--data="]],
    [["deploy", "run", "--dta", "d"]],
    [["status"]],
    [["serve", "folder"]],
    [["serve", "--json"]],
    [["serve", "--own-callback"]],
    [["serve", "--env", "A"]],
    [["deploy", "init", "--env", "A"]],
    [["deploy", "run", "--env"]],
    [["deploy", "run", "--env", "A=value"]],
    [["deploy", "run", "--env", ""]],
    [["deploy", "run", "--shared-callback"]],
    [["deploy", "init", "--own-callback", "--shared-callback"]],
  ])("%j is not", (args) => {
    expect(parseCommand(args)).toMatchObject({ exitCode: 2, text: expect.stringContaining("platform --help") });
  });
});

describe("the platform's settings", () => {
  it("have defaults, and paths from where the command was typed", () => {
    expect(loadPlatformConfig({}, "/srv")).toEqual({
      platformUrl: "http://127.0.0.1:8789",
      dataDir: "/srv/platform-data",
      allowCidrs: [],
    });
    const given = {
      PLATFORM_URL: "https://p.example",
      PLATFORM_DATA_DIR: "d",
      EGRESS_ALLOW_CIDRS: "10.0.0.0/8, 10.1.0.0/16",
    };
    expect(loadPlatformConfig(given, "/srv")).toEqual({
      platformUrl: "https://p.example",
      dataDir: "/srv/d",
      allowCidrs: ["10.0.0.0/8", "10.1.0.0/16"],
    });
    expect(loadPlatformConfig(given, "/srv", "e").dataDir).toBe("/srv/e");
    expect(startFolder({ INIT_CWD: "/from" })).toBe("/from");
  });

  it("warn of a misspelt variable, and of none that is another program's", () => {
    const set = { PLATFORM_URL: "x", PLATFORM_UR: "x", BROKER_ULR: "x", PORTS: "1", BROKER: "x", PATH: "x" };
    expect(misspeltVariables(set)).toEqual([
      "PLATFORM_UR is set, and not known here: did you mean PLATFORM_URL?",
      "BROKER_ULR is set, and not known here: did you mean BROKER_URL?",
    ]);
  });

  it("report every problem", () => {
    const bad = { PLATFORM_URL: "http://platform.example/path", EGRESS_ALLOW_CIDRS: "all" };
    expect(() => loadPlatformConfig(bad, "/")).toThrow(/2 problems[^]*PLATFORM_URL[^]*EGRESS_ALLOW_CIDRS/);
  });

  it("serve listens where PLATFORM_URL says, or PORT, and has a broker where one is named", () => {
    const config = loadPlatformConfig({}, "/srv");
    const usual = { platformUrl: "http://127.0.0.1:8789", port: 8789, allowCidrs: [], maxConnections: 2000 };
    expect(loadServeConfig({}, config)).toEqual(usual);
    expect(loadServeConfig({ MAX_CONNECTIONS: "50" }, config).maxConnections).toBe(50);
    expect(loadServeConfig({ MAX_CONNECTIONS: "1000000" }, config).maxConnections).toBe(1_000_000);
    expect(() => loadServeConfig({ MAX_CONNECTIONS: "1000001" }, config)).toThrow(/MAX_CONNECTIONS[^]*1 to 1000000/);
    const https = { ...config, platformUrl: "https://platform.example" };
    expect(loadServeConfig({}, https).port).toBe(8789);
    const given = { PORT: "9000", BROKER_URL: "https://broker.example", BROKER_CLIENT_SECRET: "canary-secret" };
    const { port, broker } = loadServeConfig(given, https);
    expect([port, broker?.issuer, broker?.clientId]).toEqual([9000, "https://broker.example", "platform"]);
    expect(JSON.stringify(broker)).not.toContain("canary-secret");
    const ended = loadServeConfig({ ...given, BROKER_CLIENT_SECRET: "canary-secret\n" }, https);
    expect(ended.broker?.clientSecret.reveal()).toBe("canary-secret");
    expect(() => loadServeConfig({ ...given, BROKER_CLIENT_SECRET: " canary-secret" }, https)).toThrow(
      /1 problem[^]*BROKER_CLIENT_SECRET must not begin/,
    );
    expect(() => loadServeConfig({ PORT: "9000" }, config)).toThrow(
      /PORT is not the port of[^]*PLATFORM_URL=http:\/\/127\.0\.0\.1:9000/,
    );
    const bad = { PORT: "0", MAX_CONNECTIONS: "many", BROKER_URL: "ftp://broker.example" };
    expect(() => loadServeConfig(bad, https)).toThrow(
      /4 problems[^]*PORT[^]*MAX_CONNECTIONS[^]*BROKER_URL[^]*BROKER_CLIENT_SECRET/,
    );
  });

  it("a server gets what programs need, and no secret of the deploying process", () => {
    expect(systemVariables({ PATH: "/bin", HOME: "/root", VENDOR_CLIENT_SECRET: "canary" })).toEqual({
      PATH: "/bin",
      HOME: "/root",
    });
  });
});
