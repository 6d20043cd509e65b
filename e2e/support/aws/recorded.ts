/**
 * A table and a KMS key on loopback that record every request of the SDK's clients, with the members
 * by which IAM decides about it.
 */
import { startFaultProxy } from "@oauth-broker/simulators/aws";
import { startAws } from "./aws.ts";
import { awsEnvironment } from "./environment.ts";

/** A request as IAM sees it. */
export interface AwsCall {
  /** `dynamodb:GetItem` */
  readonly action: string;
  /** The ARN of the table or of the key; an alias is resolved. */
  readonly resource: string;
  readonly encryptionContext: Readonly<Record<string, string>>;
}

export type RecordedAws = Awaited<ReturnType<typeof startRecordedAws>>;
/** @param alias `alias/…`, of the key */
export async function startRecordedAws(alias: string) {
  let calls: AwsCall[] = [];
  const { engine, kms, keyArn, proxy, close } = await startAws(({ operation, body }) => {
    const { TableName: name } = JSON.parse(body.toString()) as { readonly TableName: string };
    const resource = `arn:aws:dynamodb:${region}:${account}:table/${name}`;
    calls.push({ action: `dynamodb:${operation}`, resource, encryptionContext: {} });
  });
  const { region } = engine;
  const { account } = kms;
  const aliasArn = kms.createAlias(alias, keyArn);
  const keys = await startFaultProxy({
    target: kms.endpoint,
    onRequest: ({ operation, body }) => {
      const { KeyId: id, EncryptionContext: encryptionContext = {} } = JSON.parse(body.toString()) as {
        readonly KeyId: string;
        readonly EncryptionContext?: Readonly<Record<string, string>>;
      };
      calls.push({ action: `kms:${operation}`, resource: id === aliasArn ? keyArn : id, encryptionContext });
    },
  });
  return {
    region,
    account,
    keyArn,
    /** The environment a service needs, without the AWS settings of this machine. */
    env: { ...awsEnvironment({ kmsEndpoint: keys.endpoint }), AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint },
    /** @param definition an input of CreateTable, without its name */
    createTable: async (name: string, definition: object) => void (await engine.createTable(name, definition)),
    /** The calls since the last time this was asked. */
    takeCalls: (): readonly AwsCall[] => {
      const taken = calls;
      calls = [];
      return taken;
    },
    close: async () => {
      await keys.close();
      await close();
    },
  };
}
