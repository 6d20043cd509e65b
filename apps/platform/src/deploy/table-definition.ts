/**
 * What `enable_db: true` provisions, as data: the definition that is applied on this machine
 * (sandbox.ts) and would be applied on AWS. Its members are named as in the AWS APIs, so that it
 * can be passed to them unchanged.
 */

export const TTL_ATTRIBUTE = "ttl";

export interface TableDefinition {
  /** DynamoDB CreateTable. */
  readonly createTable: {
    readonly TableName: string;
    readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: "S" }[];
    readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: "HASH" | "RANGE" }[];
    readonly BillingMode: "PAY_PER_REQUEST";
    /** Encryption of the whole table; the application also seals token fields itself. */
    readonly SSESpecification: { readonly Enabled: true; readonly SSEType: "KMS"; readonly KMSMasterKeyId: string };
  };
  /** DynamoDB UpdateTimeToLive. */
  readonly updateTimeToLive: {
    readonly TableName: string;
    readonly TimeToLiveSpecification: { readonly AttributeName: string; readonly Enabled: true };
  };
  /** KMS EnableKeyRotation for the customer-managed key. */
  readonly enableKeyRotation: { readonly KeyId: string; readonly RotationPeriodInDays: number };
  /** IAM policy of the task's role: everything the container may do. */
  readonly taskRolePolicy: {
    readonly Version: "2012-10-17";
    readonly Statement: readonly {
      readonly Effect: "Allow";
      readonly Action: readonly string[];
      readonly Resource: string;
    }[];
  };
}

export interface TablePlace {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** Customer-managed. */
  readonly keyArn: string;
}

const ROTATION_DAYS = 365;
const TABLE_ACTIONS = ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"];

export function tableDefinition({ name, region, account, keyArn }: TablePlace): TableDefinition {
  const allow = (Action: readonly string[], Resource: string) => ({ Effect: "Allow", Action, Resource }) as const;
  return {
    createTable: {
      TableName: name,
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      BillingMode: "PAY_PER_REQUEST",
      SSESpecification: { Enabled: true, SSEType: "KMS", KMSMasterKeyId: keyArn },
    },
    updateTimeToLive: {
      TableName: name,
      TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
    },
    enableKeyRotation: { KeyId: keyArn, RotationPeriodInDays: ROTATION_DAYS },
    taskRolePolicy: {
      Version: "2012-10-17",
      Statement: [
        allow(
          TABLE_ACTIONS.map((action) => `dynamodb:${action}`),
          `arn:aws:dynamodb:${region}:${account}:table/${name}`,
        ),
        allow(["kms:GenerateDataKey", "kms:Decrypt"], keyArn),
      ],
    },
  };
}
