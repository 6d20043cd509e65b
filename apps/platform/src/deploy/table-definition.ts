/**
 * What `enable_db: true` provisions, as data: the definition that is applied on this machine
 * (sandbox.ts) and would be applied on AWS. Its members are named as in the AWS APIs, so that it
 * can be passed to them unchanged.
 */
import {
  KEY_ROTATION_DAYS,
  ROLE_ACTIONS,
  TABLE_SCHEMA,
  type TableSchema,
  TIME_TO_LIVE,
} from "@oauth-broker/token-store";

export interface TableDefinition {
  /** DynamoDB CreateTable. */
  readonly createTable: TableSchema & {
    readonly TableName: string;
    /** Encryption of the whole table; the application also seals token fields itself. */
    readonly SSESpecification: { readonly Enabled: true; readonly SSEType: "KMS"; readonly KMSMasterKeyId: string };
  };
  /** DynamoDB UpdateTimeToLive. */
  readonly updateTimeToLive: {
    readonly TableName: string;
    readonly TimeToLiveSpecification: typeof TIME_TO_LIVE;
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

export function tableDefinition({ name, region, account, keyArn }: TablePlace): TableDefinition {
  const allow = (Action: readonly string[], Resource: string) => ({ Effect: "Allow", Action, Resource }) as const;
  const prefixed = (service: "dynamodb" | "kms") =>
    ROLE_ACTIONS.server[service].map((action) => `${service}:${action}`);
  return {
    createTable: {
      TableName: name,
      ...TABLE_SCHEMA,
      SSESpecification: { Enabled: true, SSEType: "KMS", KMSMasterKeyId: keyArn },
    },
    updateTimeToLive: {
      TableName: name,
      TimeToLiveSpecification: TIME_TO_LIVE,
    },
    enableKeyRotation: { KeyId: keyArn, RotationPeriodInDays: KEY_ROTATION_DAYS },
    taskRolePolicy: {
      Version: "2012-10-17",
      Statement: [
        allow(prefixed("dynamodb"), `arn:aws:dynamodb:${region}:${account}:table/${name}`),
        allow(prefixed("kms"), keyArn),
      ],
    },
  };
}
