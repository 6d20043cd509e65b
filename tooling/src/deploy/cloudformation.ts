/**
 * deploy/aws/broker.yaml and mcp-server.yaml: the table, the key, the role and the alarms of a
 * broker and of a deployed MCP server. Keys of the table, time to live, rotation and actions come
 * from token-store; the encryption contexts come from the functions that make them, with
 * CloudFormation's placeholders instead of values.
 */
import {
  KEY_ROTATION_DAYS,
  ROLE_ACTIONS,
  type RoleActions,
  TABLE_SCHEMA,
  TIME_TO_LIVE,
} from "@oauth-broker/token-store";
import { bindingOf } from "../../../apps/broker/src/keys/keyset-binding.ts";
import { serverKeyContext } from "../../../packages/mcp-auth/src/hosted/records/server-key.ts";
import { dataKeyContext } from "../../../packages/token-store/src/token-store.ts";
import type { Alarm, Json } from "./alarms.ts";
import { alarmResource, counterAlarms } from "./cloudwatch.ts";

const ref = (name: string): Json => ({ Ref: name });
const sub = (text: string): Json => ({ "Fn::Sub": text });
const arnOf = (resource: string): Json => ({ "Fn::GetAtt": [resource, "Arn"] });

/** Where the code runs, as the code knows it: region and table. */
const PLACE = { environment: "${AWS::Region}", table: "${TableName}" };
const ROOT = sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root");
/** The name of the namespace in cloudwatch-agent.json. */
export const METRICS_NAMESPACE = "OAuthBroker";

/** @param alarms of apps/broker/README.md */
export function brokerTemplate(alarms: readonly Alarm[]): Json {
  const { context } = bindingOf({ baseUrl: "${BaseUrl}", ...PLACE }, 0);
  const actions = ROLE_ACTIONS.broker;
  const about = "Oauth-broker: the table of flows and keys, the KMS key that seals them, the role of the task, alarms.";
  return template(about, {
    Parameters: {
      BaseUrl: {
        Type: "String",
        Description: "base_url of the broker's configuration, byte for byte. The keys are bound to it.",
        AllowedPattern: "^https://[^/?#@A-Z ]+$",
        ConstraintDescription: "https:// and a host in lower case, without a slash at its end",
      },
      ...commonParameters("oauth-broker"),
    },
    Resources: {
      // A key of AWS: the table stays readable while the key that seals the keyset is disabled.
      Table: table({ SSEEnabled: true, SSEType: "KMS" }),
      ...keyWithAlias("Seals the keys of the broker in its table.", [context], []),
      ...taskRole(policyOf(actions, [context])),
      ...tableAlarms(actions),
      ...counterAlarms("oauth-broker", alarms),
    },
    Outputs: {
      Store: output("store in broker.yaml, or STORE", sub("dynamodb:${Table}?region=${AWS::Region}")),
      Keys: output(
        "keys in broker.yaml",
        sub("kms:arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:${KeyAlias}"),
      ),
      ...commonOutputs(),
    },
  });
}

/** @param alarms of apps/mcp-template/README.md */
export function serverTemplate(alarms: readonly Alarm[]): Json {
  const contexts = [dataKeyContext(PLACE), serverKeyContext(PLACE)];
  const about =
    "Oauth-broker: the table of an MCP server in hosted mode, the KMS key of its tokens, the role of its task, alarms.";
  return template(about, {
    Parameters: {
      TokenEncryptionMode: {
        Type: "String",
        Description: "encrypted for a new table; bridge while older builds read it",
        Default: "encrypted",
        AllowedValues: ["encrypted", "bridge"],
      },
      ...commonParameters("mcp-server-tokens"),
    },
    Resources: {
      Table: table({ SSEEnabled: true, SSEType: "KMS", KMSMasterKeyId: arnOf("Key") }),
      ...keyWithAlias("Seals the tokens of an MCP server, and encrypts their table.", contexts, [THROUGH_DYNAMODB]),
      ...taskRole(policyOf(ROLE_ACTIONS.server, contexts)),
      OperatorPolicy: {
        Type: "AWS::IAM::ManagedPolicy",
        Properties: {
          Description: "The commands links and token-store, which read the whole table. Not for the task.",
          PolicyDocument: policyOf(ROLE_ACTIONS.operator, contexts),
        },
      },
      ...tableAlarms(ROLE_ACTIONS.server),
      ...counterAlarms("mcp-server", alarms),
    },
    Outputs: {
      DbTableName: output("DB_TABLE_NAME", ref("Table")),
      DbTableRegion: output("DB_TABLE_REGION", ref("AWS::Region")),
      TokenEncryptionKmsKeyId: output("TOKEN_ENCRYPTION_KMS_KEY_ID", arnOf("Key")),
      TokenEncryptionMode: output("TOKEN_ENCRYPTION_MODE", ref("TokenEncryptionMode")),
      OperatorPolicyArn: output(
        "A policy for the role of those who run links and token-store; KeyUserArns names that role too",
        ref("OperatorPolicy"),
      ),
      ...commonOutputs(),
    },
  });
}

function template(
  Description: string,
  { Parameters, Resources, Outputs }: Readonly<Record<"Parameters" | "Resources" | "Outputs", Json>>,
): Json {
  const Conditions = {
    HasAlarmTopic: { "Fn::Not": [{ "Fn::Equals": [ref("AlarmTopicArn"), ""] }] },
    HasKeyUsers: { "Fn::Not": [{ "Fn::Equals": [{ "Fn::Join": ["", ref("KeyUserArns")] }, ""] }] },
    HasMetrics: { "Fn::Not": [{ "Fn::Equals": [ref("MetricsNamespace"), ""] }] },
  };
  return { AWSTemplateFormatVersion: "2010-09-09", Description, Parameters, Conditions, Resources, Outputs };
}

const text = (Description: string, Default = ""): Json => ({ Type: "String", Description, Default });

function commonParameters(tableName: string): Json {
  return {
    TableName: {
      ...text("The table's name. What is sealed in it opens under this name and in this region only.", tableName),
      AllowedPattern: "^[A-Za-z0-9_.-]{3,255}$",
    },
    KeyAlias: {
      ...text("The alias of the key", `alias/${tableName}`),
      AllowedPattern: "^alias/(?!aws/)[A-Za-z0-9/_-]{1,250}$",
    },
    KeyUserArns: {
      Type: "CommaDelimitedList",
      Description:
        "ARNs of roles beside that of the task that may use the key as it does: of a process elsewhere than in ECS, of those who run commands",
      Default: "",
    },
    AlarmTopicArn: text("An SNS topic that alarms are sent to. Empty: alarms are shown in CloudWatch only."),
    MetricsNamespace: text(
      `The namespace to which the CloudWatch agent sends the counters of /metrics (cloudwatch-agent.json: ${METRICS_NAMESPACE}). Empty: no alarms of these counters.`,
    ),
  };
}

const output = (Description: string, Value: Json): Json => ({ Description, Value });

function commonOutputs(): Json {
  return {
    TaskRoleArn: output("The role of the task, taskRoleArn of an ECS task definition", arnOf("TaskRole")),
    TaskPolicyArn: output("Its policy, for a role of your own elsewhere than in ECS", ref("TaskPolicy")),
    TableArn: output("The table, for backups", arnOf("Table")),
    KeyArn: output("The key", arnOf("Key")),
  };
}

/** Kept when the stack is deleted: losing it ends sessions and makes stored values unreadable. */
const KEPT = { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" };

function table(SSESpecification: Json): Json {
  const { AttributeName, Enabled } = TIME_TO_LIVE;
  return {
    Type: "AWS::DynamoDB::Table",
    ...KEPT,
    Properties: {
      TableName: ref("TableName"),
      ...TABLE_SCHEMA,
      TimeToLiveSpecification: { AttributeName, Enabled },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification,
      DeletionProtectionEnabled: true,
    },
  };
}

const actions = (service: keyof RoleActions, names: readonly string[]): string[] =>
  names.map((name) => `${service}:${name}`);
const allow = (Sid: string, Action: readonly string[], more: Json): Json => ({
  Sid,
  Effect: "Allow",
  Action,
  Resource: "*",
  ...more,
});
const policy = (...Statement: readonly Json[]): Json => ({ Version: "2012-10-17", Statement });

/** All that administration needs, and nothing that opens or seals. */
const ADMINISTRATION =
  "Describe* Get* List* Enable* Disable* Update* PutKeyPolicy CreateAlias DeleteAlias RevokeGrant RotateKeyOnDemand ScheduleKeyDeletion CancelKeyDeletion TagResource UntagResource";

/** As AWS writes it for its own key of DynamoDB: the callers of the table, through DynamoDB alone. */
const THROUGH_DYNAMODB = allow(
  "TheTableThroughDynamoDB",
  actions("kms", "Encrypt Decrypt ReEncrypt* GenerateDataKey* CreateGrant DescribeKey".split(" ")),
  {
    Principal: { AWS: "*" },
    Condition: {
      StringEquals: {
        "kms:CallerAccount": ref("AWS::AccountId"),
        "kms:ViaService": sub("dynamodb.${AWS::Region}.${AWS::URLSuffix}"),
      },
    },
  },
);

type Contexts = readonly Readonly<Record<string, string>>[];

function keyWithAlias(Description: string, contexts: Contexts, statements: readonly Json[]): Json {
  const use = (Sid: string, AWS: Json): Json =>
    allow(Sid, actions("kms", ROLE_ACTIONS.server.kms), {
      Principal: { AWS },
      Condition: contextCondition(contexts),
    });
  return {
    Key: {
      Type: "AWS::KMS::Key",
      ...KEPT,
      Properties: {
        Description,
        EnableKeyRotation: true,
        RotationPeriodInDays: KEY_ROTATION_DAYS,
        PendingWindowInDays: 30,
        KeyPolicy: policy(
          allow("Administration", actions("kms", ADMINISTRATION.split(" ")), { Principal: { AWS: ROOT } }),
          // Not the account: then every administrator of it could open what is in the table.
          use("Task", arnOf("TaskRole")),
          { "Fn::If": ["HasKeyUsers", use("KeyUsers", ref("KeyUserArns")), ref("AWS::NoValue")] },
          ...statements,
        ),
      },
    },
    Alias: { Type: "AWS::KMS::Alias", Properties: { AliasName: ref("KeyAlias"), TargetKeyId: ref("Key") } },
  };
}

function policyOf({ dynamodb, kms }: RoleActions, contexts: Contexts): Json {
  return policy(
    allow("Table", actions("dynamodb", dynamodb), { Resource: arnOf("Table") }),
    allow("Key", actions("kms", kms), { Resource: arnOf("Key"), Condition: contextCondition(contexts) }),
  );
}

/** Every member of the encryption context, each with the values that the code sends. */
function contextCondition(contexts: Contexts): Json {
  const names = [...new Set(contexts.flatMap((context) => Object.keys(context)))];
  const conditions = names.map((name) => {
    const values = [...new Set(contexts.map((context) => context[name] ?? ""))];
    const written = values.map((value) => (value.includes("${") ? sub(value) : value));
    return [`kms:EncryptionContext:${name}`, written.length === 1 ? written[0] : written];
  });
  return { StringEquals: Object.fromEntries(conditions) };
}

function taskRole(PolicyDocument: Json): Json {
  return {
    TaskRole: {
      Type: "AWS::IAM::Role",
      Properties: {
        Description: "What the process may do on AWS, as a task of ECS.",
        AssumeRolePolicyDocument: policy({
          Effect: "Allow",
          Principal: { Service: "ecs-tasks.amazonaws.com" },
          Action: "sts:AssumeRole",
          Condition: { StringEquals: { "aws:SourceAccount": ref("AWS::AccountId") } },
        }),
      },
    },
    TaskPolicy: {
      Type: "AWS::IAM::ManagedPolicy",
      Properties: {
        Description: "Exactly the calls that the process makes: its table and its key.",
        PolicyDocument,
        Roles: [ref("TaskRole")],
      },
    },
  };
}

/** Alarms of DynamoDB's own metrics, which need no agent. */
function tableAlarms({ dynamodb }: RoleActions): Json {
  const TableName = { Name: "TableName", Value: ref("Table") };
  const sum = (Id: string, MetricName: string, Dimensions: readonly Json[]): Json => ({
    Id,
    ReturnData: false,
    MetricStat: { Metric: { Namespace: "AWS/DynamoDB", MetricName, Dimensions }, Stat: "Sum", Period: 60 },
  });
  const total = (metrics: readonly Json[]): Json => ({
    Metrics: [
      ...metrics,
      { Id: "total", Expression: `SUM([${metrics.map(({ Id }) => `FILL(${String(Id)}, 0)`).join(", ")}])` },
    ],
  });
  const above = (Threshold: number, EvaluationPeriods: number, DatapointsToAlarm: number): Json => ({
    ComparisonOperator: "GreaterThanThreshold",
    Threshold,
    EvaluationPeriods,
    DatapointsToAlarm,
  });
  return {
    TableThrottled: alarmResource({
      AlarmDescription:
        "Requests to the table are throttled: they wait, then fail with 503. Look at the account's limits.",
      ...total([sum("reads", "ReadThrottleEvents", [TableName]), sum("writes", "WriteThrottleEvents", [TableName])]),
      ...above(0, 3, 2),
    }),
    TableFails: alarmResource({
      AlarmDescription:
        "DynamoDB answers with errors of its own: legs are answered with 503 and recover by themselves.",
      ...total(
        dynamodb.map((operation, index) =>
          sum(`errors${index}`, "SystemErrors", [TableName, { Name: "Operation", Value: operation }]),
        ),
      ),
      ...above(5, 3, 2),
    }),
    TableSlow: alarmResource({
      AlarmDescription: "The slowest hundredth of writes to the table takes more than 100 ms.",
      Namespace: "AWS/DynamoDB",
      MetricName: "SuccessfulRequestLatency",
      Dimensions: [TableName, { Name: "Operation", Value: "UpdateItem" }],
      ExtendedStatistic: "p99",
      Period: 60,
      ...above(100, 5, 3),
    }),
  };
}
