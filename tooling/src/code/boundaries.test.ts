import { describe, expect, it } from "vitest";
import { checkBoundaries, checkFolders } from "./boundaries.ts";
import { parseSource, PRODUCT, readEntries, readTexts } from "../sources.ts";

const ENTRIES = new Map([
  ["@oauth-broker/oauth-core", "packages/oauth-core/src/index.ts"],
  ["@oauth-broker/oauth-core/vendor-client", "packages/oauth-core/src/vendor-client/index.ts"],
  ["@oauth-broker/oauth-core/http", "packages/oauth-core/src/http/answers.ts"],
  ["@oauth-broker/oauth-core/testing", "packages/oauth-core/src/testing/index.ts"],
  ["@oauth-broker/service", "packages/service/src/index.ts"],
  ["@oauth-broker/service/http", "packages/service/src/http/index.ts"],
  ["@oauth-broker/token-store", "packages/token-store/src/index.ts"],
  ["@oauth-broker/simulators", "packages/simulators/src/index.ts"],
]);

const CORE = "packages/oauth-core/src";
const BROKER = "apps/broker/src";
const rulesBroken = (path: string, code: string): string[] =>
  checkBoundaries([parseSource(path, code)], ENTRIES).map(({ rule }) => rule);
const rulesOf = (folder: string, files: Readonly<Record<string, string>>): string[] => {
  const sources = Object.entries(files).map(([path, code]) => parseSource(`${folder}/${path}`, code));
  return checkBoundaries(sources, ENTRIES).map(({ rule, path }) => `${rule} ${path}`);
};

describe("arrows", () => {
  it.each([
    [`${CORE}/mechanics/a.ts`, `import { x } from "../protocol/b.ts";`],
    [`${CORE}/protocol/a.ts`, `import { x } from "../vendor-client/b.ts";`],
    [`${CORE}/registry/a.ts`, `import { x } from "../vendor-client/b.ts";`],
    [`${CORE}/vendor-client/a.ts`, `import { x } from "../authorization-server/b.ts";`],
    [`${CORE}/authorization-server/a.ts`, `import { x } from "../http/b.ts";`],
    [`${CORE}/ports.ts`, `import type { x } from "./protocol/b.ts";`],
    [`${CORE}/index.ts`, `export { x } from "./http/b.ts";`],
    [`${CORE}/protocol/a.ts`, `const x = import("../vendor-client/b.ts");`],
    ["packages/token-store/src/a.ts", `import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";`],
    ["packages/token-store/src/a.ts", `import * as client from "@oauth-broker/oauth-core/vendor-client";`],
    ["packages/token-store/src/a.ts", `import { type A, b } from "@oauth-broker/oauth-core/vendor-client";`],
    ["packages/token-store/src/a.ts", `import { type A, type B } from "@oauth-broker/oauth-core/vendor-client";`],
    ["packages/token-store/src/a.ts", `import { x } from "@oauth-broker/oauth-core/http";`],
    ["packages/oauth-core/src/protocol/a.ts", `import { x } from "@oauth-broker/token-store";`],
    [`${CORE}/brokered-code/a.ts`, `import type { Trace } from "@oauth-broker/service/http";`],
    ["packages/token-store/src/a.ts", `import type { Log } from "@oauth-broker/service";`],
    ["packages/service/src/serve.ts", `import type { Route } from "./http/http-layer.ts";`],
    ["packages/service/src/configuration/a.ts", `import type { Log } from "../log.ts";`],
    ["packages/service/src/tracing/start.ts", `import { startExporter } from "./exporter.ts";`],
    ["packages/simulators/src/a.ts", `import { x } from "@oauth-broker/oauth-core";`],
    ["packages/simulators/src/entry-vendor/a.ts", `import type { Clock } from "@oauth-broker/oauth-core";`],
    ["packages/simulators/src/entry-vendor/a.ts", `import { x } from "../fixtures/b.ts";`],
    [`${BROKER}/app.ts`, `import { fixedClock } from "@oauth-broker/oauth-core/testing";`],
    [`${CORE}/protocol/a.ts`, `import { fixedClock } from "../testing/fixed-clock.ts";`],
    [`${BROKER}/app.ts`, `import { x } from "@oauth-broker/simulators";`],
    [`${BROKER}/main.ts`, `const x = await import("@oauth-broker/simulators");`],
    [`${BROKER}/sandbox.ts`, `import { x } from "@oauth-broker/simulators";`],
    [`${BROKER}/sandbox.ts`, `import { x } from "../../platform/src/embedded.ts";`],
    [`${BROKER}/start.ts`, `const x = await import("../../platform/src/embedded.ts");`],
    ["apps/platform/src/a.ts", `import type { Broker } from "../../broker/src/app.ts";`],
    ["apps/platform/src/a.ts", `const x = await import("@oauth-broker/simulators");`],
    ["examples/hono/main.ts", `import { x } from "@oauth-broker/oauth-core/http";`],
    ["examples/hono/main.ts", `import { x } from "../../packages/oauth-core/src/index.ts";`],
  ])("refuse %s: %s", (path, code) => {
    expect(rulesBroken(path, code)).toContain("arrows");
  });

  it.each([
    [`${CORE}/http/a.ts`, `import { x } from "../protocol/b.ts";`],
    [`${CORE}/protocol/a.ts`, `import { x } from "../mechanics/b.ts";`],
    [`${CORE}/protocol/a.ts`, `import type { Clock } from "../ports.ts";`],
    ["packages/token-store/src/a.ts", `import type { Clock } from "@oauth-broker/oauth-core";`],
    ["packages/token-store/src/a.ts", `import { OAuthError, type B } from "@oauth-broker/oauth-core";`],
    ["packages/token-store/src/a.test.ts", `import { fixedClock } from "@oauth-broker/oauth-core/testing";`],
    ["packages/simulators/src/entry-vendor/a.ts", `import { listen } from "../listen.ts";`],
    [`${BROKER}/sandbox.ts`, `import type { X } from "@oauth-broker/simulators";`],
    [`${BROKER}/sandbox.ts`, `const { x } = await import("@oauth-broker/simulators");`],
    [`${BROKER}/sandbox.ts`, `const { x } = await import("../../platform/src/embedded.ts");`],
    ["apps/platform/src/sandbox.ts", `const { x } = await import("@oauth-broker/simulators");`],
    [`${BROKER}/start.ts`, `import { startSandbox } from "./sandbox.ts";`],
    [`${BROKER}/testing/test-broker.ts`, `import { fixedClock } from "@oauth-broker/oauth-core/testing";`],
    [`${BROKER}/app.test.ts`, `import { x } from "@oauth-broker/simulators";`],
    [`${BROKER}/app.ts`, `import { x } from "@oauth-broker/oauth-core/http";`],
    [`${BROKER}/app.ts`, `import { x } from "@oauth-broker/service/http";`],
    ["packages/service/src/tracing/start.ts", `const { x } = await import("./exporter.ts");`],
    ["examples/hono/main.ts", `import { Hono } from "hono"; await fetch(process.env.URL); console.log(Date.now());`],
    [`${CORE}/protocol/a.ts`, `// import { x } from "../vendor-client/b.ts";\nconst text = 'import "../http/b.ts"';`],
  ])("permit %s: %s", (path, code) => {
    expect(rulesBroken(path, code)).toEqual([]);
  });
});

describe("access to the outside is in one place", () => {
  it.each([
    ["hono stays in the HTTP layer", `${CORE}/authorization-server/a.ts`, `import { Hono } from "hono";`],
    ["hono stays in the HTTP layer", `${BROKER}/flows/a.ts`, `import { getCookie } from "hono/cookie";`],
    ["hono stays in the HTTP layer", `${BROKER}/flows/a.ts`, `import { serve } from "@hono/node-server";`],
    ["only egress opens connections", `${CORE}/vendor-client/token/redeem.ts`, `import { Agent } from "undici";`],
    ["only egress opens connections", `${BROKER}/flows/a.ts`, `import { connect } from "node:net";`],
    ["only egress opens connections", `${BROKER}/flows/a.ts`, `import tls from "tls";`],
    ["only egress opens connections", `${BROKER}/flows/a.ts`, `const https = await import("node:https");`],
    [
      "only the adapters import the AWS SDK",
      "packages/token-store/src/a.ts",
      `import { KMSClient } from "@aws-sdk/client-kms";`,
    ],
    [
      "only the span exporter imports the OpenTelemetry SDK",
      "packages/service/src/tracing/spans.ts",
      `import { TracerProvider } from "@opentelemetry/sdk-trace";`,
    ],
    ["only storage/sqlite imports node:sqlite", `${BROKER}/stores.ts`, `import { DatabaseSync } from "node:sqlite";`],
    ["only config.ts reads process.env", `${BROKER}/main.ts`, `const { env } = process;`],
    ["only config.ts reads process.env", `${BROKER}/main.ts`, `start(process);`],
    ["only config.ts reads process.env", `${BROKER}/main.ts`, `const deps = { process };`],
    ["only config.ts reads process.env", `${BROKER}/main.ts`, `import { env } from "node:process";`],
    ["time comes from a Clock", `${CORE}/protocol/state.ts`, `const year = new Date().getFullYear();`],
    ["redirects are 303", `${BROKER}/routes/a.ts`, `respond(307);`],
    ["redirects are 303", `${BROKER}/routes/a.ts`, `const status = { moved: 308 };`],
  ])("%s: refuses %s with %s", (rule, path, code) => {
    expect(rulesBroken(path, code)).toContain(rule);
  });

  it.each([
    ["packages/service/src/http/a.ts", `import { Hono } from "hono";`],
    [`${BROKER}/flows/a.ts`, `import type { Context } from "hono";`],
    [`${CORE}/index.ts`, `import type { Context } from "hono"; export type A = Context;`],
    [`${CORE}/egress/guarded-connection.ts`, `import net from "node:net";`],
    [`${CORE}/service/addresses.ts`, `import { BlockList, isIP } from "node:net";`],
    [
      "packages/service/src/serve.ts",
      `import { createServer } from "node:http"; process.stdout.write("x"); process.on("SIGTERM", f);`,
    ],
    [`${BROKER}/config.ts`, `export const home = load(process);`],
    [`${BROKER}/main.ts`, `process.once("exit", f); const deps = { process: 1 };`],
    [`${CORE}/protocol/a.ts`, `export const at = (s: number) => new Date(s * 1000).toISOString();`],
    [
      `${CORE}/protocol/a.test.ts`,
      `console.log(Date.now()); await fetch("http://127.0.0.1:1"); expect(r.status).toBe(307);`,
    ],
    ["packages/simulators/src/a.ts", `import { Hono } from "hono"; await fetch("http://127.0.0.1:1");`],
  ])("permits %s with %s", (path, code) => {
    expect(rulesBroken(path, code)).toEqual([]);
  });
});

it("the root entry of oauth-core must not reach hono over any number of imports", () => {
  const found = rulesOf(CORE, {
    "index.ts": `export { a } from "./authorization-server/a.ts";`,
    "authorization-server/a.ts": `import { b } from "./b.ts";`,
    "authorization-server/b.ts": `import { html } from "hono/html";`,
  });
  expect(found).toContain(`root entry ${CORE}/authorization-server/b.ts`);
});

it.each([
  [`import { REGISTRY } from "@oauth-broker/oauth-core/registry";`, 1],
  [`import { REGISTRY } from "../../../oauth-core/src/registry/b.ts";`, 1],
  [`import type { Vendor } from "@oauth-broker/oauth-core/registry";`, 0],
])("the simulator of an entry takes types of the registry alone: %s", (code, count) => {
  const folder = "packages/simulators/src/entry-vendor";
  const found = rulesOf(folder, { "index.ts": `export { a } from "./facts.ts";`, "facts.ts": code });
  expect(found).toEqual(Array.from({ length: count }, () => `root entry ${folder}/facts.ts`));
});

describe("small folders", () => {
  const folder = (name: string, count: number, file = "a"): unknown =>
    checkFolders(
      Array.from({ length: count }, (_, index) => parseSource(`${name}/${file}${index}.ts`, "export const a = 1;")),
    );

  it("fail over twelve files; tests and vendors do not count", () => {
    expect(folder(`${CORE}/protocol`, 12)).toEqual([]);
    for (const name of [`${CORE}/protocol`, `${CORE}/testing`, "e2e/load/bench", "tooling/src"]) {
      expect(folder(name, 13), name).toEqual([expect.objectContaining({ rule: "small folders" })]);
    }
    expect(folder(`${CORE}/registry/first-class`, 13)).toEqual([]);
    expect(folder(`${CORE}/registry`, 13)).toEqual([expect.objectContaining({ rule: "small folders" })]);
  });
});

describe("no circles of folders", () => {
  it("of two folders beside each other, also of types alone and of folders within others", () => {
    const toChoice = `import type { B } from "../vendor-choice/b.ts";`;
    const toConfig = `import { d } from "../config/d.ts";`;
    const circle = ["no circles of folders apps/broker/src/config/a.ts"];
    expect(rulesOf(BROKER, { "config/a.ts": toChoice, "vendor-choice/c.ts": toConfig })).toEqual(circle);
    expect(
      rulesOf(BROKER, {
        "config/a.ts": `import "../vendor-choice/entry/b.ts";`,
        "vendor-choice/entry/c.ts": `import "../../config/d.ts";`,
      }),
    ).toEqual(circle);
  });

  it("permits one direction, a folder and one inside it, and tests", () => {
    const toConfig = `import { d } from "../config/d.ts";`;
    expect(rulesOf(BROKER, { "config/a.ts": `import "../flows/b.ts";`, "vendor-choice/c.ts": toConfig })).toEqual([]);
    expect(
      rulesOf(BROKER, { "config/a.ts": `import "./schema/b.ts";`, "config/schema/c.ts": `import "../d.ts";` }),
    ).toEqual([]);
    expect(rulesOf(BROKER, { "config/a.test.ts": `import "../flows/b.ts";`, "flows/c.ts": toConfig })).toEqual([]);
  });
});

it("this repository is read whole, and so are the entries of its packages", () => {
  expect([...readTexts(PRODUCT).keys()]).toContain(`${CORE}/ports.ts`);
  expect(readEntries().get("@oauth-broker/oauth-core")).toBe(`${CORE}/index.ts`);
});
