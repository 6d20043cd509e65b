import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import type { ConfigError } from "@oauth-broker/service/configuration";
import { isExposed } from "./expose.ts";
import { parseServiceFile, type ServiceFile } from "./service-file.ts";

const HOSTED = `
name: notes
mode: hosted
enable_db: true
service:
  expose: [/.well-known/*, /authorize, /token, /register]
environment: { VENDOR: some-vendor, VENDOR_CLIENT_SECRET: env:NOTES_SECRET, LIMIT: 5, EMPTY: }
`;
/**
 * The environment of the deploying process; the deployer allowed the server only the first
 * variable.
 */
const VARIABLES = { NOTES_SECRET: "canary-secret", NOTES_SECRET_2: "canary-2", AWS_SECRET_ACCESS_KEY: "canary-3" };
const SCHEMA = new URL("../../../../mcp-template/service.schema.json", import.meta.url);
const accepts = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, "utf8")) as object);
/** Problems that service.schema.json does not see, as no schema can. */
const BEYOND_THE_SCHEMA = {
  "what is no YAML": /^line \d+ /,
  "what the deploy may pass on": / (?:refers to|does not name a variable)/,
};

/** Reads the file, and compares the answer with the schema's. */
function parse(text: string, allowed: readonly string[] = ["NOTES_SECRET", "NOTES_SECRETS"]): ServiceFile {
  const tree = parseDocument(text);
  const isValid = tree.errors.length > 0 || accepts(tree.toJS());
  try {
    const file = parseServiceFile(text, "service.yaml", { variables: VARIABLES, allowed });
    expect(isValid ? [] : accepts.errors, "of service.schema.json").toEqual([]);
    return file;
  } catch (error) {
    const { problems = [] } = error as Partial<ConfigError>;
    const unseen = problems
      .map(({ path, problem }) => `${path} ${problem}`)
      .filter((problem) => !Object.values(BEYOND_THE_SCHEMA).some((pattern) => pattern.test(problem)));
    if (isValid) expect(unseen, "problems that service.schema.json does not see").toEqual([]);
    throw error;
  }
}

it("the template's file names the schema that is beside it, and passes", () => {
  const text = readFileSync(new URL("service.yaml", SCHEMA), "utf8");
  expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=./service.schema.json");
  expect(parse(text)).toMatchObject({ name: "mcp-template", mode: "hosted" });
});

it.each([
  [{ OAUTH_DYNAMIC_REGISTRATION: "open", METRICS_PORT: 9464, EGRESS_ALLOW_LOOPBACK: true, MINE: 1.5 }, true],
  [{ OAUTH_DYNAMIC_REGISTRATION: "env:MODE", METRICS_PORT: "9464", EGRESS_ALLOW_LOOPBACK: "", VENDOR: null }, true],
  [{ OAUTH_DYNAMIC_REGISTRATION: "closed" }, false],
  [{ METRICS_PORT: 70_000 }, false],
  [{ EGRESS_ALLOW_LOOPBACK: "yes" }, false],
])("service.schema.json knows the values of a server's variables: %j", (environment, isValid) => {
  expect(accepts({ name: "notes", mode: "pre-registered", environment })).toBe(isValid);
});

function problemsOf(text: string): Readonly<Record<string, string>> {
  try {
    parse(text);
  } catch (error) {
    return Object.fromEntries((error as ConfigError).problems.map(({ path, problem }) => [path, problem]));
  }
  return {};
}

describe("service.yaml", () => {
  it("is read whole", () => {
    expect(parse(HOSTED)).toEqual({
      name: "notes",
      mode: "hosted",
      enableDb: true,
      expose: ["/.well-known/*", "/authorize", "/token", "/register"],
      environment: { VENDOR: "some-vendor", VENDOR_CLIENT_SECRET: "canary-secret", LIMIT: "5", EMPTY: "" },
    });
    expect(parse("name: notes\nmode: pre-registered")).toMatchObject({ enableDb: false, expose: [], environment: {} });
    expect(parse("name: notes\nmode: none")).toMatchObject({ mode: "none" });
  });

  it("a variable that looks like a number is the text that was written", () => {
    const written = ["3336676569.3336676569", "12345678901234567890", "0123", "1.0", "0x1f"];
    const text = `name: notes\nmode: none\nenvironment: {${written.map((value, at) => `A${at}: ${value}`).join(", ")}}`;
    expect(Object.values(parse(text).environment)).toEqual(written);
  });

  it("reports all problems at once, with path and example, and without values", () => {
    const text = `
name: Canary Notes
mode: both
enable_db: perhaps
services: {}
service: { expose: [/mcp, token], exposed: [] }
environment: { DEPLOYMENT_URL: https://canary.example, VENDOR_CLIENT_SECRET: env:NOTES_SECRETS, LIST: [canary], TOKEN_ENCRYPTION_MODE: canary }
`;
    expect(Object.keys(problemsOf(text))).toEqual([
      "services",
      "name",
      "mode",
      "enable_db",
      "service.exposed",
      "service.expose[0]",
      "service.expose[1]",
      "environment.DEPLOYMENT_URL",
      "environment.VENDOR_CLIENT_SECRET",
      "environment.LIST",
      "environment.TOKEN_ENCRYPTION_MODE",
    ]);
    expect(() => parse(text)).toThrow(
      /The deploy cannot start: 11 problems in service\.yaml[^]*example: {2}name: my-server/,
    );
    expect(() => parse(text)).not.toThrow(/canary/i);
    expect(problemsOf(text)["environment.VENDOR_CLIENT_SECRET"]).toContain("NOTES_SECRET is");
  });

  it("refuses all variables that were not allowed, by name, set or not", () => {
    const text = `name: notes
mode: pre-registered
environment: { A: env:NOTES_SECRET, B: env:AWS_SECRET_ACCESS_KEY, C: env:NOTES_SECRET_2, D: env:NOT_SET, E: env:NOT_SET, F: "env:" }
`;
    expect(problemsOf(text)).toEqual({
      "environment.B": "refers to AWS_SECRET_ACCESS_KEY, which this deploy may not pass on",
      "environment.C": "refers to NOTES_SECRET_2, which this deploy may not pass on",
      "environment.D": "refers to NOT_SET, which this deploy may not pass on",
      "environment.E": "refers to NOT_SET, which this deploy may not pass on",
      "environment.F": "does not name a variable",
    });
    expect(() => parse(text)).toThrow(
      /call deploy run with:\n {2}--env AWS_SECRET_ACCESS_KEY --env NOTES_SECRET_2 --env NOT_SET$/,
    );
    expect(() => parse(text)).not.toThrow(/canary/);
    // Nor does the message suggest a similar name that was not allowed.
    expect(() => parse("name: notes\nmode: none\nenvironment: { A: env:NOTES_SECRETT }", ["NOTES_SECRETT"])).toThrow(
      /NOTES_SECRETT, which is not set in this environment\n/,
    );
  });

  it.each([
    "/mcp",
    "/mcp/",
    "/mcp/*",
    "/MCP",
    "/*",
    "/",
    "//token",
    "/token?x=1",
    "/a/../mcp",
    "/%6dcp",
    "mcp",
    "/a b",
  ])("refuses %s in service.expose", (path) => {
    expect(problemsOf(HOSTED.replace("/register", JSON.stringify(path)))).toHaveProperty(["service.expose[3]"]);
  });

  it("refuses a path that is listed twice", () => {
    expect(problemsOf(HOSTED.replace("/register", "/token"))["service.expose[3]"]).toBe("is listed twice");
  });

  it.each(["pre-registered", "none"])("refuses service.expose in mode %s, an empty one too", (mode) => {
    for (const expose of ["[/token]", "[]"]) {
      const found = problemsOf(`name: notes\nmode: ${mode}\nservice: {expose: ${expose}}`);
      expect(found["service.expose"]).toContain("must not be set");
    }
  });

  it("hosted mode needs its table and its OAuth paths open", () => {
    expect(problemsOf("name: notes\nmode: hosted")).toMatchObject({
      enable_db: expect.stringContaining("is needed"),
      "service.expose": expect.stringContaining("/.well-known/oauth-authorization-server, /authorize, /token"),
    });
    expect(problemsOf(HOSTED.replace("/token, ", ""))["service.expose"]).toContain("lacks /token:");
  });

  it("refuses another mode in OAUTH_MODE", () => {
    expect(problemsOf(HOSTED.replace("LIMIT: 5", "OAUTH_MODE: pre-registered"))).toHaveProperty([
      "environment.OAUTH_MODE",
    ]);
    expect(problemsOf(HOSTED.replace("LIMIT: 5", "OAUTH_MODE: hosted"))).toEqual({});
  });

  it.each([
    ["no YAML", "name: [", "line 1"],
    ["an anchor", "name: notes\nmode: none\nenvironment:\n  A: &a x\n  B: *a", "line 5"],
    ["a repeated key", "name: a1\nname: b2\nmode: none", "line 2"],
    ["nothing", "", "service.yaml"],
    ["a list", "- name", "service.yaml"],
  ])("refuses %s", (_, text, path) => {
    expect(Object.keys(problemsOf(text))).toContain(path);
  });
});

it("an exposed path is compared as written", () => {
  const expose = ["/token", "/.well-known/*"];
  for (const path of ["/token", "/.well-known/x", "/.well-known/x/y"]) expect(isExposed(path, expose)).toBe(true);
  for (const path of [
    "/token/",
    "/tokens",
    "/%74oken",
    "/.well-known",
    "/.well-knownx",
    "/mcp",
    "/Token",
    "/.well-known/../mcp",
    "/.well-known/..%2fmcp",
  ]) {
    expect(isExposed(path, expose)).toBe(false);
  }
});
