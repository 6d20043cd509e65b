/**
 * What `enable_db: true` provisions, as data: the definition that is applied on this machine
 * (sandbox.ts) and would be applied on AWS. Its members are named as in the AWS APIs, so that it
 * can be passed to them unchanged.
 */
import { KEY_ROTATION_DAYS, ROLE_ACTIONS, TABLE_SCHEMA, TIME_TO_LIVE } from "@oauth-broker/token-store";

export interface TablePlace {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** Customer-managed. */
  readonly keyArn: string;
}

/**
 * The arguments of CreateTable, UpdateTimeToLive and EnableKeyRotation, and the IAM policy of the
 * task's role: everything the container may do.
 */
export function tableDefinition({ name, region, account, keyArn }: TablePlace) {
  const allow = (service: "dynamodb" | "kms", Resource: string) => {
    const Action = ROLE_ACTIONS.server[service].map((action) => `${service}:${action}`);
    return { Effect: "Allow", Action, Resource } as const;
  };
  return {
    createTable: {
      TableName: name,
      ...TABLE_SCHEMA,
      // The whole table; the application also seals token fields itself.
      SSESpecification: { Enabled: true, SSEType: "KMS", KMSMasterKeyId: keyArn },
    },
    updateTimeToLive: { TableName: name, TimeToLiveSpecification: TIME_TO_LIVE },
    enableKeyRotation: { KeyId: keyArn, RotationPeriodInDays: KEY_ROTATION_DAYS },
    taskRolePolicy: {
      Version: "2012-10-17",
      Statement: [allow("dynamodb", `arn:aws:dynamodb:${region}:${account}:table/${name}`), allow("kms", keyArn)],
    },
  } as const;
}
