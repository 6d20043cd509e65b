/**
 * A template of deploy/aws as a stack would have it: parameters and references resolved. Its
 * outputs configure a service, and its policies decide about the calls that service makes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../paths.ts";

/** A request as IAM sees it. */
export interface AwsCall {
  /** `dynamodb:GetItem` */
  readonly action: string;
  /** The ARN of the table or of the key; an alias is resolved. */
  readonly resource: string;
  readonly encryptionContext: Readonly<Record<string, string>>;
}

type Json = Readonly<Record<string, unknown>>;

interface StackOptions extends Readonly<Record<"region" | "account" | "keyArn", string>> {
  readonly template: "broker" | "mcp-server";
  readonly parameters: Readonly<Record<string, string>> & { readonly TableName: string };
}

export type Stack = ReturnType<typeof stackOf>;
export function stackOf({ template, parameters, region, account, keyArn }: StackOptions) {
  const text = readFileSync(join(ROOT, "deploy/aws", `${template}.yaml`), "utf8");
  const { Parameters, Conditions, Resources, Outputs } = parse(text) as {
    readonly Conditions: Readonly<
      Record<string, { readonly "Fn::Not": readonly [{ readonly "Fn::Equals": unknown[] }] }>
    >;
    readonly Parameters: Readonly<Record<string, { readonly Default?: string }>>;
    readonly Resources: Readonly<Record<string, { readonly Properties: Json }>>;
    readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  };
  const references: Record<string, string> = {
    "AWS::Region": region,
    "AWS::AccountId": account,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    Table: parameters.TableName,
    Key: keyArn,
    "Table.Arn": `arn:aws:dynamodb:${region}:${account}:table/${parameters.TableName}`,
    "Key.Arn": keyArn,
    "TaskRole.Arn": `arn:aws:iam::${account}:role/task`,
  };
  for (const [name, { Default }] of Object.entries(Parameters)) references[name] = parameters[name] ?? Default ?? "";
  const valueOf = (name: string): string => references[name] ?? `of this stack: ${name}`;

  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { Ref: ref, "Fn::GetAtt": attribute, "Fn::Sub": text, "Fn::If": choice, "Fn::Join": joined } = value as Json;
    if (typeof ref === "string") return valueOf(ref);
    if (Array.isArray(attribute)) return valueOf(attribute.join("."));
    if (typeof text === "string") return text.replace(/\$\{([^}]*)\}/g, (_, name: string) => valueOf(name));
    if (Array.isArray(choice)) return resolve(holds(String(choice[0])) ? choice[1] : choice[2]);
    if (Array.isArray(joined)) return resolve(joined[1]);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
  };
  const holds = (condition: string): boolean => {
    const [one, other] = Conditions[condition]?.["Fn::Not"][0]["Fn::Equals"] ?? [];
    return resolve(one) !== resolve(other);
  };
  const properties = (name: string): Json => resolve(Resources[name]?.Properties) as Json;
  const { AttributeDefinitions, KeySchema, BillingMode } = properties("Table");
  const { Statement: ofKey } = properties("Key")["KeyPolicy"] as { readonly Statement: readonly Statement[] };
  return {
    outputs: Object.fromEntries(Object.entries(Outputs).map(([name, { Value }]) => [name, String(resolve(Value))])),
    /** The input of CreateTable, without its name. */
    table: { AttributeDefinitions, KeySchema, BillingMode },
    /** The statements of an `AWS::IAM::ManagedPolicy`. */
    policy: (name: string) =>
      policyOf((properties(name)["PolicyDocument"] as { Statement: readonly Statement[] }).Statement),
    /** The role of the task, an ARN. */
    taskRole: valueOf("TaskRole.Arn"),
    /** What the key's own policy allows to this role. */
    keyPolicyFor: (role: string) => policyOf(ofKey.filter(({ Principal }) => Principal?.AWS === role)),
  };
}

interface Statement {
  /** Who a statement names, in a key's policy. */
  readonly Principal?: { readonly AWS: string };
  readonly Action: readonly string[];
  readonly Resource: string;
  readonly Condition?: { readonly StringEquals: Readonly<Record<string, string | readonly string[]>> };
}

export type Policy = ReturnType<typeof policyOf>;
function policyOf(statements: readonly Statement[]) {
  return {
    /** Actions of which it allows some calls, in order. */
    actions: statements.flatMap(({ Action }) => Action),
    /** The purposes of encryption contexts for which it allows the key. */
    purposes: statements.flatMap(({ Condition }) => Condition?.StringEquals["kms:EncryptionContext:purpose"] ?? []),
    allows: ({ action, resource, encryptionContext }: AwsCall) =>
      statements.some(
        ({ Action, Resource, Condition }) =>
          Action.includes(action) &&
          (Resource === "*" || Resource === resource) &&
          Object.entries(Condition?.StringEquals ?? {}).every(([key, values]) => {
            const value = encryptionContext[key.replace("kms:EncryptionContext:", "")];
            return value !== undefined && [values].flat().includes(value);
          }),
      ),
  };
}
