/**
 * The templates of deploy/aws, against the schemas that AWS publishes for its resources, and against
 * what they promise: nothing is lost with a stack, and a role has its own table and key only.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROLE_ACTIONS } from "@oauth-broker/token-store";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../sources.ts";
import type { Json } from "./alarms.ts";
import { openSchemas } from "./testing/template-schemas.ts";

const NAMES = ["broker", "mcp-server"] as const;
const parsed = Object.fromEntries(
  NAMES.map((name) => [name, parse(readFileSync(join(ROOT, "deploy/aws", `${name}.yaml`), "utf8")) as Json]),
);
/** A copy, which a test may change. */
const read = (name: string): Json => structuredClone(parsed[name]!);

const schemas = shared(openSchemas);

/** The value at a path of names and numbers. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown> | undefined)?.[name], value);
}

describe.each(NAMES)("the template %s", (name) => {
  it("has only resources, properties and metrics that exist, and references that resolve", () => {
    expect(schemas.problemsOf(read(name))).toEqual([]);
  });

  it("uses every parameter and condition it has", () => {
    const template = read(name);
    const text = JSON.stringify([template["Conditions"], template["Resources"], template["Outputs"]]);
    for (const one of Object.keys(template["Parameters"] as Json)) {
      expect(text.includes(`{"Ref":"${one}"}`) || text.includes(`\${${one}}`), one).toBe(true);
    }
    for (const one of Object.keys(template["Conditions"] as Json)) expect(text).toContain(`"${one}"`);
  });

  it("keeps table and key, with recovery, protection, TTL, encryption and rotation", () => {
    const resources = read(name)["Resources"];
    for (const one of ["Table", "Key"]) {
      expect(at(resources, one, "DeletionPolicy")).toBe("Retain");
      expect(at(resources, one, "UpdateReplacePolicy")).toBe("Retain");
    }
    expect(at(resources, "Table", "Properties")).toMatchObject({
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      BillingMode: "PAY_PER_REQUEST",
      TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
      DeletionProtectionEnabled: true,
    });
    expect(at(resources, "Key", "Properties")).toMatchObject({ EnableKeyRotation: true, RotationPeriodInDays: 365 });
  });

  it("gives its policies one table and one key under its contexts, no wildcards", () => {
    const resources = read(name)["Resources"] as Readonly<Record<string, Json>>;
    const policies = Object.values(resources).filter(({ Type }) => Type === "AWS::IAM::ManagedPolicy");
    expect(policies).toHaveLength(name === "broker" ? 1 : 2);
    for (const policy of policies) {
      const statements = at(policy, "Properties", "PolicyDocument", "Statement") as readonly Json[];
      expect(JSON.stringify(statements)).not.toContain("*");
      expect(statements.map(({ Resource }) => Resource)).toEqual([
        { "Fn::GetAtt": ["Table", "Arn"] },
        { "Fn::GetAtt": ["Key", "Arn"] },
      ]);
      const context = at(statements[1], "Condition", "StringEquals");
      expect(context).toMatchObject({ "kms:EncryptionContext:table": { "Fn::Sub": "${TableName}" } });
      const [, task, users] = at(resources["Key"], "Properties", "KeyPolicy", "Statement") as readonly Json[];
      const ofUsers = at(users, "Fn::If", 1);
      for (const use of [task, ofUsers]) expect(at(use, "Condition", "StringEquals")).toEqual(context);
      expect([at(task, "Principal"), at(ofUsers, "Principal")]).toEqual([
        { AWS: { "Fn::GetAtt": ["TaskRole", "Arn"] } },
        { AWS: { Ref: "KeyUserArns" } },
      ]);
    }
  });

  it("lets those who administer the key neither open nor seal with it", () => {
    const [administration] = at(
      read(name),
      "Resources",
      "Key",
      "Properties",
      "KeyPolicy",
      "Statement",
    ) as readonly Json[];
    expect(administration?.["Action"]).not.toContainEqual(
      expect.stringMatching(/Decrypt|Encrypt|GenerateData|CreateGrant|^kms:\*$/),
    );
  });
});

it("with the key disabled the broker's table stays readable", () => {
  const sse = (name: string): unknown =>
    at(read(name), "Resources", "Table", "Properties", "SSESpecification", "KMSMasterKeyId");
  expect(sse("broker")).toBeUndefined();
  expect(sse("mcp-server")).toEqual({ "Fn::GetAtt": ["Key", "Arn"] });
});

it("the pages list the actions of the roles", () => {
  const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const { broker, server, operator } = ROLE_ACTIONS;
  const [table, key] = [broker.dynamodb.join(", "), broker.kms.join(", ")];
  const page = text("docs/deploying-on-aws.md");
  expect(page).toContain(`| broker, and its commands | ${table} | ${key} |`);
  const more = server.dynamodb.filter((action) => !broker.dynamodb.includes(action));
  expect(page).toContain(`| a server's task | the same, ${more.join(", ")} | the same |`);
  expect(operator).toEqual({ ...server, dynamodb: [...server.dynamodb, "Scan"] });
  const quoted = broker.dynamodb.map((action, index) => `\`${index === 0 ? "dynamodb:" : ""}${action}\``).join(", ");
  expect(text("apps/broker/README.md")).toContain(`| ${quoted}, and no more | the table |`);
});

it("the page's commands name parameters that there are", () => {
  const page = readFileSync(join(ROOT, "docs/deploying-on-aws.md"), "utf8");
  const commands = [...page.matchAll(/deploy\/aws\/([a-z-]+)\.yaml \\\n.*--parameter-overrides (.*)/g)];
  expect(commands).toHaveLength(2);
  for (const [, name = "", overrides = ""] of commands) {
    const parameters = Object.keys(read(name)["Parameters"] as Json);
    expect(parameters).toEqual(expect.arrayContaining(overrides.split(" ").map((one) => one.split("=")[0])));
  }
});

it.each<[string, readonly string[], unknown, RegExp]>([
  ["a property", ["Table", "Properties", "BilingMode"], "PAY_PER_REQUEST", /Table: BilingMode is no property/],
  [
    "a nested property",
    ["Table", "Properties", "PointInTimeRecoverySpecification"],
    { PointInTimeRecoveryEnable: true },
    /PointInTimeRecoveryEnable is no property/,
  ],
  ["a type", ["Key", "Type"], "AWS::KMS::Kee", /there is no type AWS::KMS::Kee/],
  ["a value's type", ["Key", "Properties", "EnableKeyRotation"], "yes", /EnableKeyRotation: "yes" is no boolean/],
  ["a number", ["TableSlow", "Properties", "Threshold"], "high", /Threshold: "high" is no number/],
  ["a resource's attribute", ["Key", "DeletionPolice"], "Retain", /DeletionPolice is no attribute/],
  ["a required property", ["Alias", "Properties", "AliasName"], undefined, /AliasName is missing/],
  ["a reference", ["Alias", "Properties", "TargetKeyId"], { Ref: "Kee" }, /nothing is called Kee/],
  ["an attribute", ["Alias", "Properties", "TargetKeyId"], { "Fn::GetAtt": ["Key", "Arm"] }, /there is no Key\.Arm/],
  [
    "a placeholder",
    ["Alias", "Properties", "AliasName"],
    { "Fn::Sub": "alias/${TabelName}" },
    /nothing is called TabelName/,
  ],
  ["a function", ["Alias", "Properties", "AliasName"], { "Fn::Subb": "alias/x" }, /Fn::Subb is not known/],
  ["a condition", ["CounterNotReady", "Condition"], "HasMetric", /no condition HasMetric/],
  ["a metric", ["TableSlow", "Properties", "MetricName"], "SuccessLatency", /no metric AWS\/DynamoDB SuccessLatency/],
  [
    "a metric's dimensions",
    ["TableSlow", "Properties", "Dimensions"],
    [{ Name: "Table", Value: "t" }],
    /SuccessfulRequestLatency has no dimensions Table/,
  ],
])("a mistake in a template is found %s", (_, path, value, problem) => {
  const template = read("broker");
  const [last = ""] = path.slice(-1);
  Object.assign(at(template["Resources"], ...path.slice(0, -1)) as object, { [last]: value });
  expect(schemas.problemsOf(JSON.parse(JSON.stringify(template)) as Json).join("\n")).toMatch(problem);
});
