import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { CLIENT, load, MINIMAL, problemsOf } from "./testing/config-file.ts";

describe("base_url", () => {
  it.each([
    "https://broker.example.com",
    "https://broker.example.com:8443",
    "http://127.0.0.1:8787",
    "http://localhost:8787",
    "http://[::1]:8787",
  ])("accepts %s", (url) => {
    expect(load({ ...MINIMAL, base_url: url }).baseUrl).toBe(url);
  });

  it.each([
    ["http://broker.example.com", "must be https: http is for loopback only"],
    ["https://broker.example.com/", "must not end in a slash: clients compare the issuer byte for byte"],
    ["https://broker.example.com/oauth", "must not have a path: the service owns the whole host"],
    ["https://broker.example.com?x=1", "must not have a query or a fragment"],
    ["https://broker.example.com#x", "must not have a query or a fragment"],
    ["https://user@broker.example.com", "must not have user information"],
    ["https://Broker.example.com", "must be in canonical form: lower case, no default port, no white space"],
    ["https://broker.example.com:443", "must be in canonical form: lower case, no default port, no white space"],
    ["https://broker.example.com\n", "must be in canonical form: lower case, no default port, no white space"],
    ["broker.example.com", "must be an absolute https URL"],
    ["ftp://broker.example.com", "must be an absolute https URL"],
    ["", "must not be empty"],
  ])("rfc8414#2 refuses %j", (url, problem) => {
    expect(problemsOf({ base_url: url })).toEqual([`base_url ${problem}`]);
  });
});

describe("store, keys and cell", () => {
  it("have defaults", () => {
    const config = load(MINIMAL);
    expect(config.store).toEqual({ kind: "sqlite", path: join(config.file ?? "", "../data/broker.sqlite") });
    expect(config.keys).toEqual({ kind: "store" });
    expect("cell" in config).toBe(false);
  });

  it.each([
    [{ store: "memory:" }, { store: { kind: "memory" } }],
    [{ store: "memory" }, { store: { kind: "memory" } }],
    [{ store: "sqlite:/var/lib/broker/b.sqlite" }, { store: { kind: "sqlite", path: "/var/lib/broker/b.sqlite" } }],
    [{ keys: "file:/var/lib/broker/keys.json" }, { keys: { kind: "file", path: "/var/lib/broker/keys.json" } }],
    [{ cell: "eu1" }, { cell: "eu1" }],
  ])("accept %j", (fields, expected) => {
    expect(load({ ...MINIMAL, ...fields })).toMatchObject(expected);
  });

  it.each([
    [{ store: "redis:flows" }, "store must be sqlite:PATH, dynamodb:TABLE?region=REGION or memory"],
    [{ store: "sqlite:" }, "store must name a file after sqlite: (memory: keeps nothing)"],
    [{ store: "sqlite::memory:" }, "store must name a file after sqlite: (memory: keeps nothing)"],
    [{ keys: "file:" }, "keys must be store, file:PATH or kms:ARN"],
    [{ keys: "stor" }, "keys must be store, file:PATH or kms:ARN"],
    [{ cell: "EU-1" }, "cell must be 1 to 16 of a-z and 0-9"],
    [{ cell: "a".repeat(17) }, "cell must be 1 to 16 of a-z and 0-9"],
  ])("refuse %j", (fields, problem) => {
    expect(problemsOf(fields)).toEqual([problem]);
  });
});

describe("limits and egress", () => {
  it("are read, numbers and booleans also through the environment", () => {
    const env = { PAR: "0", CALLS: "100", LOOPBACK: "true" };
    const allowCidrs = ["10.1.0.0/16", "fd00::/8"];
    const config = load(
      {
        ...MINIMAL,
        base_url: "http://127.0.0.1:1",
        limits: { par_per_minute: "env:PAR", vendor_calls_per_minute: "env:CALLS", body_bytes: 2048 },
        egress: { allow_loopback: "env:LOOPBACK", timeout_ms: 15_000, allow_cidrs: allowCidrs, ca_file: null },
      },
      { env },
    );
    const limits = { parPerMinute: 0, explainPerMinute: 60, vendorCallsPerMinute: 100, bodyBytes: 2048 };
    const egress = { allowLoopback: true, allowCidrs, operatorUrls: [], timeoutMs: 15_000 };
    expect([config.limits, config.egress, config.warnings]).toEqual([limits, egress, []]);
  });

  it.each([
    [{ limits: { par_per_minute: -1 } }, "limits.par_per_minute must be at least 0"],
    [{ listen: { max_connections: 0 } }, "listen.max_connections must be at least 1"],
    [{ listen: { idle_seconds: 601 } }, "listen.idle_seconds must be at most 600"],
    [{ limits: { explain_per_minute: -1 } }, "limits.explain_per_minute must be at least 0"],
    [{ limits: { vendor_calls_per_minute: 1e7 } }, "limits.vendor_calls_per_minute must be at most 1000000"],
    [{ limits: { par_per_minute: 1.5 } }, "limits.par_per_minute must be a whole number"],
    [{ limits: { body_bytes: 1e9 } }, "limits.body_bytes must be at most 10485760"],
    [{ limits: [] }, "limits must be a mapping"],
    [{ egress: { timeout_ms: "10s" } }, "egress.timeout_ms must be a number"],
    [
      { egress: { timeout_ms: 15_001 } },
      "egress.timeout_ms must be at most 15000: one process holds a refresh for as long as calls this long can take, and after that another may send the same refresh token again",
    ],
    [{ egress: { allow_loopback: "yes" } }, "egress.allow_loopback must be true or false"],
    [{ egress: { allow_cidrs: "10.0.0.0/8" } }, "egress.allow_cidrs must be a list"],
    [{ egress: { allow_cidrs: ["10.0.0.0"] } }, "egress.allow_cidrs[0] must be a network such as 10.20.0.0/16"],
    [{ egress: { ca_file: "gone.pem" } }, "egress.ca_file names a file that does not exist"],
    [{ egress: { ca_file: "broker.yaml" } }, "egress.ca_file names a file without a PEM certificate"],
  ])("refuse %j", (fields, problem) => {
    expect(problemsOf(fields)).toEqual([problem]);
  });

  it("reads the certificates of ca_file, relative to the file, and refuses broken ones", () => {
    const pem = `${rootCertificates[0]}\n`;
    const egress = { ca_file: "ca.pem" };
    expect(load({ ...MINIMAL, egress }, { files: { "ca.pem": pem } }).egress.caPem).toBe(pem);
    const broken = pem.replace(/\n[A-Za-z0-9+/]{20}/, "\nAAAAAAAAAAAAAAAAAAAA");
    expect(broken).not.toBe(pem);
    expect(problemsOf({ egress }, { files: { "ca.pem": broken } })).toEqual([
      expect.stringMatching(/^egress\.ca_file names a file that cannot be used/),
    ]);
  });
});

describe("warnings", () => {
  it("warn about what is allowed but dangerous", () => {
    const { warnings } = load({
      ...MINIMAL,
      store: "memory:",
      egress: { allow_loopback: true, allow_cidrs: ["0.0.0.0/0"] },
    });
    expect(warnings).toEqual([
      "egress.allow_loopback is on although base_url is public: requests may name endpoints on this machine",
      "egress.allow_cidrs holds a network of every address: name the private networks you mean",
      "store is memory: flows under way and the broker's keys are lost at every restart",
    ]);
  });

  it("speak of a secret under 32 characters, without it", () => {
    const config = load({ ...MINIMAL, clients: [{ ...CLIENT, client_secret: "short-canary" }] });
    expect(config.warnings).toEqual([expect.stringMatching(/^Client platform has a secret under 32 characters/)]);
    expect(JSON.stringify(config)).not.toContain("short-canary");
  });
});

describe("the variables of traces", () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

  it("are read beside the file, and are off without a collector", () => {
    expect("tracing" in load(MINIMAL)).toBe(false);
    expect(load(MINIMAL, { env }).tracing).toMatchObject({ sampler: "parentbased_always_on" });
  });

  it("are refused together with what is wrong in the file", () => {
    const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318", OTEL_TRACES_SAMPLER: "all" };
    expect(problemsOf({ cell: "Not a cell" }, { env: wrong })).toEqual([
      expect.stringMatching(/^cell /),
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an absolute http or https URL",
      expect.stringMatching(/^OTEL_TRACES_SAMPLER must be always_on or /),
    ]);
  });
});
