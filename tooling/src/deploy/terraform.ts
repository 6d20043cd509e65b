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

const ALARM = "aws_cloudwatch_metric_alarm";
const TYPES: Readonly<Record<string, string>> = {
  "AWS::DynamoDB::Table": "aws_dynamodb_table",
  "AWS::KMS::Key": "aws_kms_key",
  "AWS::KMS::Alias": "aws_kms_alias",
  "AWS::IAM::Role": "aws_iam_role",
  "AWS::IAM::ManagedPolicy": "aws_iam_policy",
  "AWS::CloudWatch::Alarm": ALARM,
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
  // Go's regular expressions cannot look ahead: what must not follow is tested by itself.
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
  if (type === undefined) throw new Error(`${id}: ${String(Type)} has no translation for Terraform`);
  const { Roles = [], ...properties } = Properties as Json;
  const { attributes, blocks } = contentOf(properties, translate);
  return [
    {
      type: "resource",
      labels: [type, snake(id)],
      attributes: {
        count: typeof Condition === "string" ? expression(`local.${snake(Condition)} ? 1 : 0`) : undefined,
        // CloudFormation makes a name.
        alarm_name: type === ALARM ? expression(`"\${var.table_name}-${id}"`) : undefined,
        ...attributes,
      },
      blocks: [...blocks, ...(DeletionPolicy === "Retain" ? [KEPT] : [])],
    },
    ...(Roles as readonly Json[]).map((role) => ({
      type: "resource",
      labels: ["aws_iam_role_policy_attachment", snake(id)],
      attributes: { role: translate(role), policy_arn: translate({ Ref: id }) },
    })),
  ];
}

/** What the provider has by another name, or in another form: still spelt as CloudFormation does. */
const REWRITTEN: Readonly<Record<string, (value: never) => Json>> = {
  TableName: (Name) => ({ Name }),
  AliasName: (Name) => ({ Name }),
  KeySchema: (keys: readonly Json[]) =>
    Object.fromEntries(keys.map(({ AttributeName, KeyType }) => [`${String(KeyType)}_KEY`, AttributeName])),
  AttributeDefinitions: (all: readonly Json[]) => ({
    Attribute: all.map(({ AttributeName: Name, AttributeType: Type }) => ({ Name, Type })),
  }),
  TimeToLiveSpecification: (Ttl) => ({ Ttl }),
  PointInTimeRecoverySpecification: ({ PointInTimeRecoveryEnabled: Enabled }: Json) => ({
    PointInTimeRecovery: { Enabled },
  }),
  SSESpecification: ({ SSEEnabled: Enabled, KMSMasterKeyId: KmsKeyArn }: Json) => ({
    ServerSideEncryption: { Enabled, KmsKeyArn },
  }),
  PendingWindowInDays: (DeletionWindowInDays) => ({ DeletionWindowInDays }),
  KeyPolicy: (Policy) => ({ Policy }),
  PolicyDocument: (Policy) => ({ Policy }),
  AssumeRolePolicyDocument: (AssumeRolePolicy) => ({ AssumeRolePolicy }),
  Metrics: (all: readonly Json[]) => ({
    // Without it CloudFormation takes true, and the provider false.
    MetricQuery: all.map((one) => ({ ...one, ReturnData: one["ReturnData"] !== false })),
  }),
  MetricStat: ({ Metric, ...rest }: { readonly Metric: Json }) => ({ Metric: { ...Metric, ...rest } }),
  Dimensions: (all: readonly Json[]) => ({
    Dimensions: Object.fromEntries(all.map(({ Name, Value }) => [String(Name), Value])),
  }),
};
const BLOCKS: ReadonlySet<string> = new Set(
  "Attribute Ttl PointInTimeRecovery ServerSideEncryption MetricQuery Metric".split(" "),
);
const DOCUMENTS: ReadonlySet<string> = new Set(["Policy", "AssumeRolePolicy"]);

/** What has the same name in both, but for its spelling, goes over as it is. */
function contentOf(properties: Json, translate: Translate): Required<Pick<Block, "attributes" | "blocks">> {
  const given = Object.entries(properties)
    .flatMap(([name, value]) => Object.entries(REWRITTEN[name]?.(value as never) ?? { [name]: value }))
    .filter(([, value]) => value !== undefined);
  const [blocks = [], attributes = []] = [true, false].map((is) => given.filter(([name]) => BLOCKS.has(name) === is));
  return {
    attributes: Object.fromEntries(
      attributes.map(([name, value]) => [snake(name), DOCUMENTS.has(name) ? json(translate(value)) : translate(value)]),
    ),
    blocks: blocks.flatMap(([name, value]) =>
      [value].flat().map((one) => ({ type: snake(name), ...contentOf(one as Json, translate) })),
    ),
  };
}

const json = (value: Value): Value => expression((indent) => `jsonencode(${renderValue(value, indent)})`);
