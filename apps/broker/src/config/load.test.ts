import { join } from "node:path";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { folderOf, load, MINIMAL, problemsOf, refusalOf } from "./testing/config-file.ts";

const LISTEN = { maxConnections: 2000, idleSeconds: 65, trustedProxies: [] };

describe("where the configuration comes from", () => {
  it("starts the sandbox without any", () => {
    const folder = folderOf();
    const { vendors, ...config } = loadConfig({ PATH: "/bin", HOST: "", BASE_URL: "" }, folder);
    expect([...vendors.keys()]).toEqual([...REGISTRY.keys()]);
    expect(config).toEqual({
      sandbox: true,
      baseUrl: "http://127.0.0.1:8787",
      listen: { ...LISTEN, host: "127.0.0.1", port: 8787 },
      store: { kind: "sqlite", path: join(folder, "data/sandbox/broker-127.0.0.1-8787.sqlite") },
      keys: { kind: "store" },
      audit: { kind: "off" },
      owners: [],
      clients: [],
      limits: { parPerMinute: 600, explainPerMinute: 60, vendorCallsPerMinute: 6000, bodyBytes: 65_536 },
      egress: { allowLoopback: true, allowCidrs: [], operatorUrls: [], timeoutMs: 10_000 },
      warnings: [],
    });
  });

  it.each([
    [{ PORT: "9001" }, "http://127.0.0.1:9001", "127.0.0.1"],
    [{ HOST: "localhost", PORT: "9001" }, "http://localhost:9001", "localhost"],
    [{ HOST: "::1" }, "http://[::1]:8787", "::1"],
    [{ HOST: "[::1]", PORT: "80" }, "http://[::1]", "::1"],
    [{ HOST: "127.8.9.1" }, "http://127.8.9.1:8787", "127.8.9.1"],
  ])("keeps the sandbox on loopback with %j", (env, baseUrl, host) => {
    const config = loadConfig(env, folderOf());
    expect(config).toMatchObject({ sandbox: true, baseUrl, listen: { host } });
  });

  it.each([
    [{ BASE_URL: "https://broker.example.com" }, "BASE_URL", ["clients"]],
    [{ STORE: "memory:" }, "STORE", ["base_url", "clients"]],
    [{ HOST: "0.0.0.0" }, "HOST", ["base_url", "clients"]],
    [{ HOST: "10.0.0.1", STORE: "memory:" }, "STORE and HOST", ["base_url", "clients"]],
  ])("refuses a deployment without a file: %j", (env, named, missing) => {
    const { problems } = refusalOf(() => loadConfig(env, folderOf()));
    expect(problems.map(({ path }) => path)).toEqual(["BROKER_CONFIG", ...missing]);
    expect(problems[0]?.problem).toContain(`with ${named} set`);
  });

  it("is the sandbox if asked for, beside any configuration, and names what it ignores (#29)", () => {
    const folder = folderOf({ "broker.yaml": "not: read" });
    const env = { BASE_URL: "https://broker.example.com", STORE: "memory:", HOST: "0.0.0.0", PORT: "9001" };
    const config = loadConfig(env, folder, { sandbox: "always" });
    expect(config).toMatchObject({
      sandbox: true,
      baseUrl: "http://127.0.0.1:9001",
      listen: { host: "127.0.0.1", port: 9001 },
      store: { kind: "sqlite", path: join(folder, "data/sandbox/broker-127.0.0.1-9001.sqlite") },
    });
    expect(config.file).toBeUndefined();
    const warning = (what: string) => [
      `This is the sandbox, which does not read ${what}. \`npm run broker\` serves a configuration.`,
    ];
    expect(config.warnings).toEqual(warning("broker.yaml, BASE_URL, STORE, HOST"));
    const named = loadConfig({ BROKER_CONFIG: "gone.yaml", HOST: "localhost" }, folder, { sandbox: "always" });
    expect(named).toMatchObject({ sandbox: true, listen: { host: "localhost" }, warnings: warning("BROKER_CONFIG") });
    const empty = folderOf();
    expect(loadConfig({}, empty, { sandbox: "always" })).toEqual(loadConfig({}, empty));
  });

  it("says where there is no sandbox that a file is needed (#29)", () => {
    const { problems } = refusalOf(() => loadConfig({}, folderOf(), { sandbox: "absent" }));
    expect(problems[0]).toMatchObject({ path: "BROKER_CONFIG", problem: expect.stringContaining("has no sandbox") });
    const file = folderOf({ "broker.yaml": JSON.stringify(MINIMAL) });
    expect(loadConfig({}, file, { sandbox: "absent" })).toEqual(loadConfig({}, file));
  });

  it("refuses PORT 0 in the sandbox, whose base_url names the port", () => {
    expect(refusalOf(() => loadConfig({ PORT: "0" }, folderOf())).problems).toMatchObject([{ path: "PORT" }]);
  });

  it("refuses a BROKER_CONFIG that names no file, a folder, or a file that is not UTF-8", () => {
    const folder = folderOf({ "broker.yaml": "", "sub/x": "", "latin-1.yaml": Buffer.from("cell: \u00fc", "latin1") });
    expect(refusalOf(() => loadConfig({ BROKER_CONFIG: "gone.yaml" }, folder)).message).toContain(
      `BROKER_CONFIG names ${join(folder, "gone.yaml")}, which does not exist`,
    );
    for (const [file, fault] of Object.entries({ sub: "EISDIR", "latin-1.yaml": "not UTF-8" })) {
      const { message } = refusalOf(() => loadConfig({ BROKER_CONFIG: file }, folder));
      expect(message).toContain(`cannot be read (${fault})`);
    }
  });

  it("reads BROKER_CONFIG relative to the start directory, its paths relative to the file", () => {
    const text = JSON.stringify({ ...MINIMAL, keys: "file:keys.json", store: "sqlite:../db" });
    const folder = folderOf({ "conf/b.yaml": text, "broker.yaml": "not: read" });
    expect(loadConfig({ BROKER_CONFIG: "conf/b.yaml" }, folder)).toMatchObject({
      file: join(folder, "conf/b.yaml"),
      sandbox: false,
      keys: { kind: "file", path: join(folder, "conf/keys.json") },
      store: { kind: "sqlite", path: join(folder, "db") },
    });
  });

  it("lets BASE_URL, HOST, PORT and STORE win over the file", () => {
    const env = { BASE_URL: "https://other.example.com", HOST: "0.0.0.0", PORT: "8080", STORE: "memory:" };
    expect(load({ ...MINIMAL, listen: { host: "127.0.0.1", port: 1 }, store: "sqlite:x" }, { env })).toMatchObject({
      baseUrl: "https://other.example.com",
      listen: { host: "0.0.0.0", port: 8080 },
      store: { kind: "memory" },
    });
    const { listen } = load({ ...MINIMAL, listen: { host: "127.0.0.9" } }, { env: { PORT: "1" } });
    expect(listen).toEqual({ ...LISTEN, host: "127.0.0.9", port: 1 });
  });

  it("names the variable, not the field, when a variable is wrong", () => {
    const env = { BASE_URL: "broker", HOST: "a b", PORT: "eighty", STORE: "redis:x" };
    const { problems } = refusalOf(() => load(MINIMAL, { env }));
    expect(problems.map(({ path }) => path)).toEqual(["BASE_URL", "HOST", "PORT", "STORE"]);
  });
});

describe("the file as YAML", () => {
  it.each([
    ["base_url: a\nbase_url: b", "line 2, column 1: the same key twice in one mapping"],
    [
      'base_url: "a',
      "line 1, column 13: a closing quote, bracket or brace is missing, or a space after a colon or comma",
    ],
    ["base_url: !secret a", "line 1, column 11: an unknown tag (a value that begins with ! needs quotes)"],
    ["a:\n\tb: 1", "line 2, column 1: a tab as indentation: YAML takes spaces alone"],
    ["base_url: %a", "line 1, column 11: a value that begins with this character needs quotes"],
    ["base_url: *a", "has an alias without its anchor"],
    ["a: &a { b: *a }", "has aliases that expand without end"],
    ["a: 1\n---\nb: 2", "holds more than one YAML document"],
    ["- a\n- b", "does not hold a mapping"],
    ["just text", "does not hold a mapping"],
  ])("refuses %j", (text, problem) => {
    expect(refusalOf(() => load(text)).message).toContain(`broker.yaml ${problem}\n`);
  });

  it("reports only the YAML error when the YAML is broken", () => {
    expect(refusalOf(() => load("clients: [")).problems.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^line 1/),
    ]);
  });

  it("takes an empty file for one in which everything is missing", () => {
    expect(refusalOf(() => load("# nothing yet")).problems.map(({ path }) => path)).toEqual(["base_url", "clients"]);
  });

  it("stops aliases that multiply", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ...["b", "c", "d", "e", "f"].map(
        (name, index) => `${name}: &${name} [${Array<string>(9).fill(`*${"abcde"[index]}`).join(",")}]`,
      ),
    ];
    expect(refusalOf(() => load(bomb.join("\n"))).message).toContain("aliases that expand without end");
  });

  it("refuses a field named __proto__", () => {
    expect(refusalOf(() => load("__proto__: { sandbox: true }\nclients: []")).message).toContain(
      "__proto__ is not a name a field can have",
    );
  });
});

describe("problems", () => {
  it("are reported together, each with path, expected shape and an example", () => {
    const error = refusalOf(() =>
      load({
        base_url: "https://broker.example.com/",
        listen: { port: 70_000 },
        cell: "EU",
        clients: [{ client_id: "a", client_secrt: "x", redirect_uris: [] }, { client_id: "a" }],
        vendors: { own: {}, mine: { name: "M", issuer: "http://vendor.example", pkce: "S512" } },
        limits: { body_bytes: 0 },
        egress: { allow_cidrs: ["10.0.0.0/33"], ca_file: "gone.pem" },
      }),
    );
    expect(error.problems.map(({ path }) => path)).toEqual([
      "base_url",
      "listen.port",
      "cell",
      "clients[0].redirect_uris",
      "clients[0].client_secrt",
      "clients[1].redirect_uris",
      "vendors.mine.issuer",
      "vendors.mine.pkce",
      "limits.body_bytes",
      "egress.allow_cidrs[0]",
      "clients[1].client_id",
      "clients[0]",
      "clients[1]",
      "vendors.own",
      "egress.ca_file",
    ]);
    expect(error.message).toMatch(/^The broker cannot start: 15 problems in .*broker\.yaml\n/);
    expect(error.message).toContain(
      "  cell must be 1 to 16 of a-z and 0-9\n      expected: 1 to 16 of a-z 0-9\n      example:  eu1\n",
    );
    expect(error.message).toContain("clients[0].client_secrt is not a known field: did you mean client_secret?");
    expect(error.message).toMatch(/then run `main\.js check` .*docs\/configuration\.md\.$/);
    expect(error.stack).toBe(error.message);
  });

  it("bar#OB-2 never repeat a value, which may be a secret in the wrong place", () => {
    const canary = "CANARY-9f2c";
    const message = refusalOf(() =>
      load({
        base_url: canary,
        listen: { host: `${canary} `, port: canary },
        store: canary,
        keys: canary,
        cell: canary,
        owners: [{ id: `${canary} `, approved_vendors: [canary], initial_access_token: canary }],
        clients: [
          {
            client_id: `${canary} `,
            owner: canary,
            client_secret: `${canary}\n`,
            jwks: canary,
            redirect_uris: [canary],
            vendors: [canary],
          },
          {
            client_id: "b",
            client_secret: { value: canary },
            redirect_uris: canary,
            browser_binding: canary,
            allow_overrides: canary,
          },
          { client_id: "c", jwks: `{"keys":["${canary}"]}`, redirect_uris: [`https://user:${canary}@x.example/`] },
          canary,
        ],
        vendors: {
          own: {
            issuer: `https://x.example/?a=${canary}#`,
            token_endpoint: canary,
            credentials: canary,
            pkce: canary,
            placeholders: canary,
          },
          other: canary,
        },
        limits: { par_per_minute: canary },
        egress: { allow_loopback: canary, allow_cidrs: [canary], timeout_ms: canary, ca_file: canary },
      }),
    ).message;
    expect(message).not.toContain(canary);
  });

  it("suggest the known field near a misspelt one and list the others", () => {
    expect(problemsOf({ limit: {} })).toEqual(["limit is not a known field: did you mean limits?"]);
    expect(problemsOf({ egress: { alow_loopback: true } })).toEqual([
      "egress.alow_loopback is not a known field: did you mean allow_loopback?",
    ]);
    const [problem] = refusalOf(() => load({ ...MINIMAL, zzz: 1 })).problems;
    expect(problem).toMatchObject({
      problem: "is not a known field",
      expected:
        "one of base_url, listen, store, keys, keys_min_revision, audit, cell, owners, clients, vendors, limits, egress",
    });
  });

  it("say that a bare number or boolean needs quotes", () => {
    expect(problemsOf({ cell: 12 })).toEqual(["cell must be text: put it in quotes"]);
    expect(problemsOf({ cell: "" })).toEqual(["cell must not be empty"]);
  });
});
