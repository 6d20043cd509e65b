/**
 * The modules of deploy/terraform: that everything of a template is in them, written as
 * `terraform fmt` would. `terraform validate` needs the provider, which
 * `.github/workflows/deploy.yml` has; here stand the arguments that it knows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../sources.ts";
import type { Json } from "./alarms.ts";
import { snake, terraformModule } from "./terraform.ts";

/** Of the provider hashicorp/aws 6.25.0: arguments and blocks that a module may use. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  aws_dynamodb_table:
    "name billing_mode hash_key range_key deletion_protection_enabled attribute ttl point_in_time_recovery server_side_encryption lifecycle".split(
      " ",
    ),
  aws_kms_key: "description enable_key_rotation rotation_period_in_days deletion_window_in_days policy lifecycle".split(
    " ",
  ),
  aws_kms_alias: ["name", "target_key_id"],
  aws_iam_role: ["description", "assume_role_policy"],
  aws_iam_policy: ["description", "policy"],
  aws_iam_role_policy_attachment: ["role", "policy_arn"],
  aws_cloudwatch_metric_alarm:
    "count alarm_name alarm_description comparison_operator evaluation_periods datapoints_to_alarm threshold threshold_metric_id treat_missing_data alarm_actions ok_actions namespace metric_name dimensions statistic extended_statistic period metric_query".split(
      " ",
    ),
};

const read = (name: string): Json => parse(readFileSync(join(ROOT, "deploy/aws", `${name}.yaml`), "utf8")) as Json;

describe.each(["broker", "mcp-server"])("the module %s", (name) => {
  const template = read(name);
  const module = terraformModule(template);
  const blocks = [...module.matchAll(/^resource "(\w+)" "(\w+)" \{\n([^]*?)^\}$/gm)];

  it("has each parameter, condition, resource and output of the template", () => {
    for (const [section, type] of [
      ["Parameters", 'variable "'],
      ["Outputs", 'output "'],
    ] as const) {
      for (const one of Object.keys(template[section] as Json)) expect(module).toContain(`${type}${snake(one)}" {\n`);
    }
    for (const one of Object.keys(template["Conditions"] as Json)) expect(module).toContain(`local.${snake(one)} `);
    const ids = Object.keys(template["Resources"] as Json).map(snake);
    const own = blocks.filter(([, type]) => type !== "aws_iam_role_policy_attachment").map(([, , id]) => id);
    expect(own).toEqual(ids);
  });

  it("uses arguments that the provider has", () => {
    for (const [, type = "", id, body = ""] of blocks) {
      const used = [...body.matchAll(/^ {2}(\w+)(?: +=| \{)/gm)].map(([, argument]) => argument);
      expect(
        used.filter((argument) => !KNOWN[type]?.includes(argument ?? "")),
        id,
      ).toEqual([]);
    }
  });

  it("leaves no placeholder of CloudFormation behind, and keeps table and key", () => {
    expect(module).not.toMatch(/AWS::|Fn::|\$\$\{/);
    expect(module.match(/prevent_destroy = true/g)).toHaveLength(2);
  });

  it("binds the policies to the encryption contexts of the template", () => {
    const contexts = [...module.matchAll(/"kms:EncryptionContext:(\w+)" += (.*)/g)];
    expect(
      contexts.filter(([, member]) => member === "table").every(([, , value]) => value === '"${var.table_name}"'),
    ).toBe(true);
    const places = contexts.filter(([, member]) => member === "environment").map(([, , value]) => value);
    expect(new Set(places)).toEqual(new Set(['"${data.aws_region.current.region}"']));
    expect(places.length).toBeGreaterThanOrEqual(3);
  });
});

it.each<[string, (resources: Record<string, Json>) => void, RegExp]>([
  ["a type", (resources) => Object.assign(resources, { Queue: { Type: "AWS::SQS::Queue" } }), /Queue.*no translation/],
  [
    "a function",
    (resources) => Object.assign(resources["Alias"]?.["Properties"] as object, { AliasName: { "Fn::Select": [0] } }),
    /Fn::Select has no translation/,
  ],
])("a template that cannot be translated ends with the name of what it is: %s", (_, change, problem) => {
  const template = read("broker");
  change(template["Resources"] as Record<string, Json>);
  expect(() => terraformModule(template)).toThrow(problem);
});
