/**
 * deploy/terraform: the templates of cloudformation.ts as modules for Terraform's provider `aws`.
 * Nothing is defined here: each parameter, condition, resource and output of a template is
 * translated, and what has no translation ends `npm run docs`.
 */
import type { Json } from "./alarms.ts";
import { type Block, expression, quote, renderBlock, renderValue, type Value } from "./hcl.ts";

/** `KeyUserArns` → `key_user_arns`, `SSEType` → `sse_type`. */
export const snake = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();

const PSEUDO: Readonly<Record<string, string>> = {
  "AWS::Region": "data.aws_region.current.region",
  "AWS::AccountId": "data.aws_caller_identity.current.account_id",
  "AWS::Partition": "data.aws_partition.current.partition",
  "AWS::URLSuffix": "data.aws_partition.current.dns_suffix",
  "AWS::NoValue": "null",
};

const TYPES: Readonly<Record<string, string>> = {
  "AWS::DynamoDB::Table": "aws_dynamodb_table",
  "AWS::KMS::Key": "aws_kms_key",
  "AWS::KMS::Alias": "aws_kms_alias",
  "AWS::IAM::Role": "aws_iam_role",
  "AWS::IAM::ManagedPolicy": "aws_iam_policy",
  "AWS::CloudWatch::Alarm": "aws_cloudwatch_metric_alarm",
};

/** What `Ref` of a resource is at AWS. */
const REFERRED: Readonly<Record<string, string>> = {
  aws_dynamodb_table: "name",
  aws_kms_key: "key_id",
  aws_iam_role: "name",
  aws_iam_policy: "arn",
};

interface Template {
  readonly Parameters: Readonly<Record<string, Json>>;
  readonly Conditions: Readonly<Record<string, Json>>;
  readonly Resources: Readonly<Record<string, Json>>;
  readonly Outputs: Readonly<Record<string, Json>>;
}

/**
 * @param template what brokerTemplate or serverTemplate returned
 * @returns the text of the module's main.tf
 * @throws Error that names what it cannot translate
 */
export function terraformModule(template: Json): string {
  const { Parameters, Conditions, Resources, Outputs } = template as unknown as Template;
  const translate = translatorOf(Resources);
  const names = new RegExp(`\\b(?:${Object.keys(Parameters).join("|")})\\b`, "g");
  const conditions = Object.entries(Conditions).map(([name, condition]) => [snake(name), translate(condition)]);
  const blocks: Block[] = [
    {
      type: "terraform",
      attributes: { required_version: ">= 1.5" },
      blocks: [{ type: "required_providers", attributes: { aws: { source: "hashicorp/aws", version: ">= 6.0" } } }],
    },
    ...["aws_caller_identity", "aws_partition", "aws_region"].map((name) => ({
      type: "data",
      labels: [name, "current"],
    })),
    ...Object.entries(Parameters).map(([name, parameter]) => variable(snake(name), parameter)),
    { type: "locals", attributes: Object.fromEntries(conditions) },
    ...Object.entries(Resources).flatMap(([id, resource]) => resourceBlocks(id, resource, translate)),
    ...Object.entries(Outputs).map(([name, output]) => ({
      type: "output",
      labels: [snake(name)],
      attributes: {
        description: String(output["Description"]).replace(names, snake),
        value: translate(output["Value"]),
      },
    })),
  ];
  return blocks.map((block) => renderBlock(block)).join("\n");
}

function variable(name: string, { Type, Description, Default, AllowedPattern, AllowedValues }: Json): Block {
  const isList = Type === "CommaDelimitedList";
  const pattern = typeof AllowedPattern === "string" ? AllowedPattern : undefined;
  // Go's regular expressions cannot look ahead: what must not follow is a test of its own.
  const [, before = "", refused = ""] = /^\^(.*?)\(\?!(.*?)\)/.exec(pattern ?? "") ?? [];
  const tests = [
    ...(pattern === undefined ? [] : [`can(regex(${quote(pattern.replace(/\(\?!.*?\)/, ""))}, var.${name}))`]),
    ...(refused === "" ? [] : [`!startswith(var.${name}, ${quote(before + refused)})`]),
    ...(Array.isArray(AllowedValues) ? [`contains(${renderValue(AllowedValues as Value)}, var.${name})`] : []),
  ];
  const error = pattern === undefined ? "It is none of the values." : `It does not match ${pattern}`;
  return {
    type: "variable",
    labels: [name],
    attributes: {
      type: expression(isList ? "list(string)" : "string"),
      description: String(Description),
      default: typeof Default === "string" ? (isList ? [] : Default) : undefined,
    },
    blocks:
      tests.length === 0
        ? []
        : [{ type: "validation", attributes: { condition: expression(tests.join(" && ")), error_message: error } }],
  };
}

type Translate = (value: unknown) => Value;

/** @returns the translation of CloudFormation's functions into expressions */
function translatorOf(resources: Template["Resources"]): Translate {
  const resource = (id: string, attribute?: string): string => {
    const type = TYPES[String(resources[id]?.["Type"])] ?? "";
    const name = attribute ?? REFERRED[type];
    if (type === "" || name === undefined) throw new Error(`${id} has no translation for Terraform`);
    return `${type}.${snake(id)}.${name}`;
  };
  const reference = (name: string): string =>
    PSEUDO[name] ?? (name in resources ? resource(name) : `var.${snake(name)}`);
  const text = (value: unknown, indent: string): string => renderValue(translate(value), indent);
  const functions: Readonly<Record<string, (of: never, indent: string) => string>> = {
    Ref: reference,
    "Fn::GetAtt": ([id, name]: readonly [string, string]) => resource(id, snake(name)),
    "Fn::Sub": (template: string) =>
      quote(template).replace(/\$\$\{([\w:]+)\}/g, (_, name: string) => `\${${reference(name)}}`),
    "Fn::Join": ([separator, list]: readonly [string, unknown], indent) =>
      `join(${quote(separator)}, ${text(list, indent)})`,
    "Fn::Not": ([inner]: readonly [{ "Fn::Equals": readonly [unknown, unknown] }], indent) =>
      inner["Fn::Equals"].map((side) => text(side, indent)).join(" != "),
    "Fn::If": ([condition, yes, no]: readonly [string, unknown, unknown], indent) =>
      `local.${snake(condition)} ? ${text(yes, indent)} : ${text(no, indent)}`,
  };
  const isOptional = (item: unknown): item is { "Fn::If": [string, unknown, unknown] } =>
    typeof item === "object" && item !== null && "Fn::If" in item;
  const translate: Translate = (value) => {
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      const optional = items.findIndex(isOptional);
      if (optional < 0) return items.map(translate);
      const [condition, yes] = (items[optional] as { "Fn::If": [string, unknown] })["Fn::If"];
      return expression((indent) => {
        const deeper = `${indent}  `;
        const lists = [items.slice(0, optional), items.slice(optional + 1)].map((list) =>
          list.length === 0 ? [] : [text(list, deeper)],
        );
        const one = `local.${snake(condition)} ? ${text([yes], deeper)} : []`;
        const lines = [...(lists[0] ?? []), one, ...(lists[1] ?? [])].map((line) => `${deeper}${line},\n`);
        return `concat(\n${lines.join("")}${indent})`;
      });
    }
    if (typeof value !== "object" || value === null) return value as Value;
    const members = Object.entries(value);
    const name = members[0]?.[0] ?? "";
    const write = members.length === 1 && Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (write !== undefined) return expression((indent) => write(members[0]?.[1] as never, indent));
    if (name.startsWith("Fn::")) throw new Error(`${name} has no translation for Terraform`);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, translate(inner)]));
  };
  return translate;
}

const KEPT: Block = { type: "lifecycle", attributes: { prevent_destroy: true } };

/** @returns the resource of the provider, and what else CloudFormation's has in one */
function resourceBlocks(
  id: string,
  { Type, Condition, DeletionPolicy, Properties }: Json,
  translate: Translate,
): Block[] {
  const type = TYPES[String(Type)];
  const make = MAKERS[type ?? ""];
  if (type === undefined || make === undefined)
    throw new Error(`${id}: ${String(Type)} has no translation for Terraform`);
  const properties = Properties as Json;
  const { attributes, blocks = [], beside = [] } = make(properties, translate, id);
  return [
    {
      type: "resource",
      labels: [type, snake(id)],
      attributes: {
        count: typeof Condition === "string" ? expression(`local.${snake(Condition)} ? 1 : 0`) : undefined,
        ...attributes,
      },
      blocks: [...blocks, ...(DeletionPolicy === "Retain" ? [KEPT] : [])],
    },
    ...beside,
  ];
}

interface Made {
  readonly attributes: Readonly<Record<string, Value | undefined>>;
  readonly blocks?: readonly Block[];
  readonly beside?: readonly Block[];
}

const json = (value: Value): Value => expression((indent) => `jsonencode(${renderValue(value, indent)})`);
const named = (list: unknown): readonly Json[] => (list ?? []) as readonly Json[];

/** What has the same name in both, but for its spelling. */
const inSnake = (properties: Json, translate: Translate): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [snake(name), translate(value)]));

const MAKERS: Readonly<Record<string, (properties: Json, translate: Translate, id: string) => Made>> = {
  aws_dynamodb_table: ({ TableName, BillingMode, KeySchema, AttributeDefinitions, ...rest }, translate) => {
    const keyOf = (type: string): string =>
      String(named(KeySchema).find(({ KeyType }) => KeyType === type)?.["AttributeName"]);
    const { TimeToLiveSpecification, PointInTimeRecoverySpecification, SSESpecification } = rest as Record<
      string,
      Json
    >;
    const kms = SSESpecification?.["KMSMasterKeyId"];
    return {
      attributes: {
        name: translate(TableName),
        billing_mode: translate(BillingMode),
        hash_key: keyOf("HASH"),
        range_key: keyOf("RANGE"),
        deletion_protection_enabled: translate(rest["DeletionProtectionEnabled"]),
      },
      blocks: [
        ...named(AttributeDefinitions).map(({ AttributeName, AttributeType }) => ({
          type: "attribute",
          attributes: { name: String(AttributeName), type: String(AttributeType) },
        })),
        {
          type: "ttl",
          attributes: {
            attribute_name: String(TimeToLiveSpecification?.["AttributeName"]),
            enabled: TimeToLiveSpecification?.["Enabled"] === true,
          },
        },
        {
          type: "point_in_time_recovery",
          attributes: { enabled: PointInTimeRecoverySpecification?.["PointInTimeRecoveryEnabled"] === true },
        },
        {
          type: "server_side_encryption",
          attributes: {
            enabled: SSESpecification?.["SSEEnabled"] === true,
            kms_key_arn: kms === undefined ? undefined : translate(kms),
          },
        },
      ],
    };
  },
  aws_kms_key: ({ PendingWindowInDays, KeyPolicy, ...properties }, translate) => ({
    attributes: {
      ...inSnake(properties, translate),
      deletion_window_in_days: translate(PendingWindowInDays),
      policy: json(translate(KeyPolicy)),
    },
  }),
  aws_kms_alias: ({ AliasName, ...properties }, translate) => ({
    attributes: { name: translate(AliasName), ...inSnake(properties, translate) },
  }),
  aws_iam_role: ({ Description, AssumeRolePolicyDocument }, translate) => ({
    attributes: {
      description: translate(Description),
      assume_role_policy: json(translate(AssumeRolePolicyDocument)),
    },
  }),
  aws_iam_policy: ({ Description, PolicyDocument, Roles }, translate, id) => ({
    attributes: { description: translate(Description), policy: json(translate(PolicyDocument)) },
    beside: named(Roles).map((role) => ({
      type: "resource",
      labels: ["aws_iam_role_policy_attachment", snake(id)],
      attributes: { role: translate(role), policy_arn: translate({ Ref: id }) },
    })),
  }),
  aws_cloudwatch_metric_alarm: ({ Metrics, Dimensions, ...properties }, translate, id) => ({
    attributes: {
      alarm_name: expression(`"\${var.table_name}-${id}"`),
      ...inSnake(properties, translate),
      dimensions: Dimensions === undefined ? undefined : dimensionsOf(Dimensions, translate),
    },
    blocks: named(Metrics).map(({ Id, Expression, ReturnData, MetricStat }) => {
      const { Metric, Stat, Period } = (MetricStat ?? {}) as Json;
      const { Namespace, MetricName, Dimensions: dimensions } = (Metric ?? {}) as Json;
      const metric = {
        namespace: translate(Namespace),
        metric_name: translate(MetricName),
        dimensions: dimensionsOf(dimensions, translate),
        stat: translate(Stat),
        period: translate(Period),
      };
      return {
        type: "metric_query",
        attributes: {
          id: String(Id),
          expression: typeof Expression === "string" ? Expression : undefined,
          // True where CloudFormation says nothing, false where the provider says nothing.
          return_data: ReturnData !== false,
        },
        blocks: MetricStat === undefined ? [] : [{ type: "metric", attributes: metric }],
      };
    }),
  }),
};

const dimensionsOf = (list: unknown, translate: Translate): Value =>
  Object.fromEntries(named(list).map(({ Name, Value }) => [String(Name), translate(Value)]));
