/**
 * What the stores of this package need on AWS, as data: the table, its time to live, the rotation of
 * its key, and what each role may do with both. Members are named as in the AWS APIs. The reference
 * platform and the templates of deploy/aws are made of it; e2e/scenarios/delivery/deploy-aws.test.ts records
 * that the actions are exactly those the code sends.
 */

/** The part of DynamoDB's CreateTable that all our tables have. */
export interface TableSchema {
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: "S" }[];
  readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: "HASH" | "RANGE" }[];
  readonly BillingMode: "PAY_PER_REQUEST";
}

/** The two keys of every item: records, token rows and the ping. */
export const TABLE_SCHEMA: TableSchema = {
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  BillingMode: "PAY_PER_REQUEST",
};

/** DynamoDB's TimeToLiveSpecification: it only deletes; the code decides what has expired. */
export const TIME_TO_LIVE: { readonly AttributeName: string; readonly Enabled: true } = {
  AttributeName: "ttl",
  Enabled: true,
};

/** How often KMS makes new backing material for the key; what was sealed before still opens. */
export const KEY_ROTATION_DAYS = 365;

/** The actions of a role, without the prefix of their service. */
export interface RoleActions {
  readonly dynamodb: readonly string[];
  readonly kms: readonly string[];
}

const BROKER = ["GetItem", "PutItem", "UpdateItem"];
const SERVER = [...BROKER, "DeleteItem", "Query"];
const KMS = ["GenerateDataKey", "Decrypt"];

/**
 * `broker`: its task, and its commands. `server`: the task of a deployed MCP server. `operator`: the
 * commands beside such a server that read the whole table, which the task may not.
 */
export const ROLE_ACTIONS: Readonly<Record<"broker" | "server" | "operator", RoleActions>> = {
  broker: { dynamodb: BROKER, kms: KMS },
  server: { dynamodb: SERVER, kms: KMS },
  operator: { dynamodb: [...SERVER, "Scan"], kms: KMS },
};
