/**
 * The templates of deploy/aws, held against what the services really ask AWS for: tables as the
 * templates make them, settings from their outputs, whole flows and every command, and each request
 * of the SDK's clients compared with the policies. The dashboards and alerting rules are held against
 * what `/metrics` of the same services serves.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { runOperatorCommand } from "@oauth-broker/broker/src/cli/operator.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { runCommandLine } from "@oauth-broker/token-store/cli";
import { startFaultProxy } from "@oauth-broker/simulators/aws";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { startAws } from "../../support/aws/aws.ts";
import { awsEnvironment } from "../../support/aws/environment.ts";
import { type AwsCall, type Stack, stackOf } from "../../support/aws/stack.ts";
import { startParties } from "../../support/broker/harness.ts";
import { freePort } from "../../support/free-port.ts";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { postWhoami } from "../../support/mcp/client.ts";
import { createMcpPlatform } from "../../support/mcp/platform.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { type Environment, hostedEnvironment } from "../../support/mcp/process.ts";
import { startGitHubVendor } from "../../support/mcp/vendor.ts";
import { ROOT } from "../../support/paths.ts";
import { send } from "../../support/broker/platform.ts";
import { readPromql, readScrape, type Scrape } from "../../support/aws/promql.ts";
import { temporaryFolder } from "../../support/service-process.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { startSeveralVendors } from "../../support/several-vendors/harness.ts";
import { connectLinkingClient } from "../../support/several-vendors/client.ts";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const ALIAS = "alias/oauth-broker";
const OPERATOR = "arn:aws:iam::000000000000:role/operator";
const NINE_HOURS = 9 * 3600;

/**
 * A table and a KMS key on loopback that record every request of the SDK's clients, with the members
 * by which IAM decides about it.
 */
async function startRecordedAws() {
  const calls: AwsCall[] = [];
  const { engine, kms, keyArn, proxy, close } = await startAws(({ operation, body }) => {
    const { TableName: name } = JSON.parse(body) as { readonly TableName: string };
    const resource = `arn:aws:dynamodb:${region}:${account}:table/${name}`;
    calls.push({ action: `dynamodb:${operation}`, resource, encryptionContext: {} });
  });
  const { region } = engine;
  const { account } = kms;
  const aliasArn = kms.createAlias(ALIAS, keyArn);
  const keys = await startFaultProxy({
    target: kms.endpoint,
    onRequest: ({ operation, body }) => {
      const { KeyId: id, EncryptionContext: encryptionContext = {} } = JSON.parse(body) as {
        readonly KeyId: string;
        readonly EncryptionContext?: Readonly<Record<string, string>>;
      };
      calls.push({ action: `kms:${operation}`, resource: id === aliasArn ? keyArn : id, encryptionContext });
    },
  });
  return {
    region,
    account,
    keyArn,
    /** The environment a service needs, without the AWS settings of this machine. */
    env: { ...awsEnvironment({ kmsEndpoint: keys.endpoint }), AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint },
    /** @param definition an input of CreateTable, without its name */
    createTable: async (name: string, definition: object) => void (await engine.createTable(name, definition)),
    /** The calls since the last time this was asked. */
    takeCalls: () => calls.splice(0),
    close: async () => {
      await keys.close();
      await close();
    },
  };
}

const aws = shared(startRecordedAws);
beforeAll(() => {
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
});
afterAll(() => vi.unstubAllEnvs());

type Role = "broker" | "server" | "operator";

/** By role: what its policy allows, what it has used of that, and the calls that the policy refuses. */
const roles = new Map<Role, { readonly allowed: readonly string[]; readonly used: Set<string>; refused: unknown[] }>();
/** By job: the text of `/metrics` after the flows. */
const scrapes = new Map<string, Scrape>();

async function createStack(
  template: "broker" | "mcp-server",
  parameters: Readonly<Record<string, string>> & { readonly TableName: string },
): Promise<Stack> {
  const { region, account, keyArn } = aws;
  const stack = stackOf({ template, parameters: { KeyUserArns: OPERATOR, ...parameters }, region, account, keyArn });
  await aws.createTable(parameters.TableName, stack.table);
  return stack;
}

/** Takes the calls made since the last time as those of this role. */
function recordAs(role: Role, stack: Stack): void {
  const policy = stack.policy(role === "operator" ? "OperatorPolicy" : "TaskPolicy");
  const keyPolicy = stack.keyPolicyFor(role === "operator" ? OPERATOR : stack.taskRole);
  const allowed = [...policy.actions, ...policy.purposes];
  const known = roles.get(role) ?? { allowed, used: new Set<string>(), refused: [] };
  roles.set(role, known);
  for (const call of aws.takeCalls()) {
    known.used.add(call.action);
    if (call.encryptionContext["purpose"] !== undefined) known.used.add(call.encryptionContext["purpose"]);
    const isRefusedByKey = call.action.startsWith("kms:") && !keyPolicy.allows(call);
    if (!policy.allows(call) || isRefusedByKey) known.refused.push(call);
  }
}

async function scrape(job: string, url: string): Promise<void> {
  const earlier = scrapes.get(job) ?? new Map();
  scrapes.set(job, new Map([...earlier, ...readScrape((await send(url)).text)]));
}

describe("a broker, from the outputs of its stack", () => {
  it("starts on an empty table; whole flows, refresh, revoke and every command", async () => {
    const { baseUrl, vendor, platform, ...parties } = await startParties();
    const stack = await createStack("broker", { BaseUrl: baseUrl, TableName: "oauth-broker", KeyAlias: ALIAS });
    const { Store: store = "", Keys: keys = "" } = stack.outputs;
    expect([store, keys]).toEqual([
      "dynamodb:oauth-broker?region=eu-west-1",
      `kms:arn:aws:kms:eu-west-1:${aws.account}:${ALIAS}`,
    ]);
    const yaml = parties.yaml({ store, keys });
    const broker = await startInProcessBroker(yaml);
    const tokens = await platform.connect();
    const refreshed = await platform.refresh(tokens);
    expect(refreshed.status, refreshed.text).toBe(200);
    expect((await platform.revoke(String(refreshed.body["refresh_token"]), tokens)).status).toBe(200);
    expect((await platform.redeem(tokens.flow)).status).toBe(400);
    expect((await send(`${baseUrl}/v1/callback?state=none&code=none`)).status).toBe(400);
    expect((await send(`${baseUrl}/readyz`)).status).toBe(200);
    await scrape("oauth-broker", `${baseUrl}/metrics`);

    const folder = temporaryFolder();
    writeFileSync(join(folder, "broker.yaml"), yaml);
    const written = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, "write").mockImplementation(() => true),
    );
    const codes: number[] = [];
    for (const command of [
      { name: "check" },
      { name: "flow", flowId: tokens.flow.flowId, json: false },
      { name: "keys-list" },
      { name: "keys-rotate" },
      { name: "keys-adopt", revision: 2 },
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as an operator does
      codes.push(await runOperatorCommand(command, () => loadConfig({}, folder)));
    }
    for (const spy of written) spy.mockRestore();
    expect(codes).toEqual([0, 0, 0, 0, 0]);
    plantVendorSecrets(vendor);
    await broker.close();
    await vendor.close();
    recordAs("broker", stack);
  });
});

const environmentOf = ({ outputs }: Stack): Environment => ({
  ...aws.env,
  DB_TABLE_NAME: outputs["DbTableName"] ?? "",
  DB_TABLE_REGION: outputs["DbTableRegion"] ?? "",
  TOKEN_ENCRYPTION_KMS_KEY_ID: outputs["TokenEncryptionKmsKeyId"] ?? "",
  TOKEN_ENCRYPTION_MODE: outputs["TokenEncryptionMode"] ?? "",
});

describe("a deployed server, from the outputs of its stack", () => {
  it("in mode bridge: sessions, a refresh at the vendor and one of the session, and their end", async () => {
    const stack = await createStack("mcp-server", { TableName: "bridge", TokenEncryptionMode: "bridge" });
    const vendor = await startGitHubVendor({ expiringTokens: true });
    const METRICS_PORT = String(await freePort());
    const server = await serveTemplate({
      ...(await hostedEnvironment()),
      ...vendor.env,
      ...environmentOf(stack),
      METRICS_PORT,
    });
    const platform = await createMcpPlatform(server.url);
    const tokens = await platform.connect();
    vendor.advance(NINE_HOURS);
    expect((await postWhoami(server.mcp, tokens.accessToken)).status).toBe(200);
    const params = { name: "list_pages", arguments: { url: `${vendor.github.url}/user` } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect((await postWhoami(server.mcp, tokens.accessToken, { body })).status).toBe(200);
    await scrape("mcp-server", `http://127.0.0.1:${METRICS_PORT}/metrics`);
    const renewed = await platform.refresh(tokens.refreshToken);
    expect((await postWhoami(server.mcp, renewed.accessToken)).status).toBe(200);
    await platform.revoke(renewed.refreshToken);
    await server.stop();
    await vendor.close();
    recordAs("server", stack);
  });

  it("in mode encrypted: links of several vendors, and the operator's commands on them", async () => {
    const stack = await createStack("mcp-server", { TableName: "links" });
    const METRICS_PORT = String(await freePort());
    const harness = await startSeveralVendors({ env: { ...environmentOf(stack), METRICS_PORT } });
    const user = await connectLinkingClient(harness, { era: "modern" });
    expect((await user.call("all_accounts")).isError).toBe(false);
    await harness.endGrant("chat", "user");
    expect((await user.call("chat_account")).isError).toBe(false);
    const connections = await user.browser.open("/connections");
    await user.browser.press(connections, "disconnect", { vendor: "github" });
    expect((await user.call("github_account")).isError).toBe(false);
    expect((await fetch(harness.mcp, { method: "POST", body: "{}" })).status).toBe(401);
    expect((await fetch(`${harness.url}/authorize`)).status).toBe(400);
    expect((await fetch(`${harness.url}/readyz`)).status).toBe(200);
    await scrape("mcp-server", `http://127.0.0.1:${METRICS_PORT}/metrics`);
    recordAs("server", stack);

    expect(await harness.command("links", "list")).toMatchObject({ code: 0 });
    expect(await harness.command("links", "revoke", "user")).toMatchObject({ code: 0 });
    // One who never signed in at the pages: the end of the sign-ins is a new row.
    expect(await harness.command("links", "revoke", "operator")).toMatchObject({ code: 0 });
    await user.close();
    await harness.close();
    recordAs("operator", stack);
  });

  it("token-store converts a table that an older build wrote", async () => {
    const stack = await createStack("mcp-server", { TableName: "converted" });
    const direct = new DynamoDBClient({ region: aws.region });
    const row = (user: string, ttl: number) => ({
      TableName: "converted",
      Item: {
        pk: { S: `USER#${user}` },
        sk: { S: "VENDOR#github" },
        access_token: { S: `plain-${user}` },
        ttl: { N: String(ttl) },
      },
    });
    await direct.send(new PutItemCommand(row("present", 9_000_000_000)));
    await direct.send(new PutItemCommand(row("expired", 1_000_000_000)));
    direct.destroy();
    aws.takeCalls();

    const printed: string[] = [];
    const stream = { write: (text: string) => void printed.push(text) };
    const issuer = ["--issuer", "github=https://vendor.example"];
    const codes: number[] = [];
    for (const args of [["audit"], ["migrate", ...issuer, "--skip-issuer-check"], ["strip", ...issuer]]) {
      const deps = {
        stdout: stream,
        stderr: stream,
        signal: new AbortController().signal,
        environment: environmentOf(stack),
      };
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as the runbook says
      codes.push(await runCommandLine(args, deps));
    }
    expect(codes, printed.join("")).toEqual([3, 0, 0]);
    recordAs("operator", stack);
  });
});

describe("the policies, after all of that", () => {
  it.each(["broker", "server", "operator"] as const)(
    "allow the %s exactly what it asked for: actions, and purposes of the key",
    (name) => {
      const { allowed = [], used = new Set<string>(), refused } = roles.get(name) ?? {};
      expect(refused).toEqual([]);
      expect(used).toEqual(new Set(allowed));
    },
  );
});

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly { readonly expr: string }[] }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

/** The expressions of a job, in rules and dashboard. */
function expressionsOf(job: string): readonly string[] {
  const text = (path: string): string => readFileSync(join(ROOT, "deploy", path), "utf8");
  const { groups } = parse(text("prometheus-rules.yaml")) as Rules;
  const dashboards = ["broker", "mcp-server"].map((name) => JSON.parse(text(`grafana/${name}.json`)) as Dashboard);
  return [
    ...groups.filter(({ name }) => name === job).flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...dashboards
      .filter(({ uid }) => uid === job)
      .flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
      .map((expr) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$job", job)),
  ];
}

/** What Prometheus itself adds for every target: labels, and a metric. */
const OF_THE_TARGET = new Set(["job", "instance"]);
const UP = new Map([["up", new Map<string, ReadonlySet<string>>()]]);

/** @returns what an expression names and `/metrics` does not have */
function missingIn(expr: string, job: string, scraped: Scrape): string[] {
  return readPromql(expr).flatMap(({ metric, labels, grouping }) => {
    const known = scraped.get(metric) ?? UP.get(metric);
    if (known === undefined) return [`metric ${metric}`];
    const names = [...Object.keys(labels), ...grouping].filter((name) => !OF_THE_TARGET.has(name));
    return [
      ...names.filter((name) => !known.has(name)).map((name) => `label ${name} of ${metric}`),
      ...(labels["job"] === job ? [] : [`job ${job} of ${metric}`]),
    ];
  });
}

describe.each(["oauth-broker", "mcp-server"])("the rules and the dashboard of %s", (job) => {
  it("name only metrics and labels that it serves, in valid PromQL", () => {
    const scraped = scrapes.get(job) ?? new Map();
    const expressions = expressionsOf(job);
    expect(expressions.length).toBeGreaterThan(15);
    expect(expressions.flatMap((expr) => missingIn(expr, job, scraped))).toEqual([]);
  });

  it("would be found out by a misspelling", () => {
    const scraped = scrapes.get(job) ?? new Map();
    const good = `sum by (status) (rate(http_requests_total{job="${job}"}[5m]))`;
    const found = (from: string, to: string): string[] => missingIn(good.replace(from, to), job, scraped);
    expect(found("", "")).toEqual([]);
    expect(found("requests_total", "request_total")).toEqual(["metric http_request_total"]);
    expect(found("by (status", "by (state")).toEqual(["label state of http_requests_total"]);
    expect(found(`job="${job}"`, 'job="x"')).toHaveLength(1);
    expect(() => readPromql(good.replace("[5m]", "[5m"))).toThrow(/no PromQL/);
  });
});
