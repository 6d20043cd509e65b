import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { describe, expect, it } from "vitest";
import { startLocalTable } from "../sandbox.ts";
import { serverEnvironment } from "./server-process/launch.ts";
import { tableDefinition } from "./table-definition.ts";
import { keepTableMode, tableMode } from "./table.ts";

const records = () => ({ records: memoryRecordStore({ now: () => 1_700_000_000 }) });
const PLACE = {
  name: "notes-tokens",
  region: "eu-west-1",
  account: "111122223333",
  keyArn: "arn:aws:kms:eu-west-1:111122223333:key/k",
};

describe("the mode of a table", () => {
  it("is encrypted for a new table, which cannot change back", async () => {
    const of = records();
    expect(await tableMode("notes", undefined, of)).toBe("encrypted");
    await expect(tableMode("notes", "bridge", of)).rejects.toThrow(/Remove the setting/);
    await keepTableMode("notes", "encrypted", of);
    expect(await tableMode("notes", undefined, of)).toBe("encrypted");
    await expect(tableMode("notes", "bridge", of)).rejects.toThrow(/Remove the setting/);
  });

  it("of one that was there before stays bridge, until its author sets encrypted", async () => {
    const of = records();
    await keepTableMode("notes", "bridge", of);
    expect(await tableMode("notes", undefined, of)).toBe("bridge");
    expect(await tableMode("notes", "bridge", of)).toBe("bridge");
    expect(await tableMode("notes", "encrypted", of)).toBe("encrypted");
    // Only a deploy that succeeded changes it.
    expect(await tableMode("notes", undefined, of)).toBe("bridge");
    await keepTableMode("notes", "encrypted", of);
    expect(await tableMode("notes", undefined, of)).toBe("encrypted");
    await keepTableMode("notes", "bridge", of);
    expect(await tableMode("notes", undefined, of)).toBe("encrypted");
  });
});

describe("the definition of a table", () => {
  it("has pk, sk, TTL, encryption, key rotation and a role with the least permissions", () => {
    const { createTable, updateTimeToLive, enableKeyRotation, taskRolePolicy } = tableDefinition(PLACE);
    expect(createTable.KeySchema).toEqual([
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ]);
    expect(createTable.SSESpecification).toEqual({ Enabled: true, SSEType: "KMS", KMSMasterKeyId: PLACE.keyArn });
    expect(updateTimeToLive.TimeToLiveSpecification).toEqual({ AttributeName: "ttl", Enabled: true });
    expect(enableKeyRotation).toEqual({ KeyId: PLACE.keyArn, RotationPeriodInDays: 365 });
    const allowed = taskRolePolicy.Statement.flatMap(({ Action, Resource }) => Action.map((one) => [one, Resource]));
    expect(allowed).toContainEqual(["kms:Decrypt", PLACE.keyArn]);
    expect(allowed.filter(([action]) => action?.startsWith("kms:"))).toHaveLength(2);
    expect(JSON.stringify(taskRolePolicy)).not.toContain("*");
  });

  it("is what a table on this machine is made of", async () => {
    const table = await startLocalTable("notes-tokens");
    expect(table.definition.createTable.SSESpecification.KMSMasterKeyId).toBe(table.keyArn);
    expect(table.sdk["AWS_ENDPOINT_URL_DYNAMODB"]).toMatch(/^http:\/\/127\.0\.0\.1:/);
    await table.close();
  });
});

describe("the environment of a server", () => {
  const injected = {
    deploymentUrl: "https://notes.platform.example",
    callbackUrl: "https://platform.example/oauth/callback",
    port: 4000,
    table: undefined,
    system: { PATH: "/bin" },
  };

  it("is what the author wrote, under what the platform injects", () => {
    const environment = { VENDOR: "v", DEPLOYMENT_URL: "https://evil.example" };
    expect(serverEnvironment({ mode: "pre-registered", environment }, injected)).toEqual({
      PATH: "/bin",
      TRUSTED_PROXIES: "127.0.0.0/8",
      VENDOR: "v",
      OAUTH_MODE: "pre-registered",
      DEPLOYMENT_URL: "https://notes.platform.example",
      PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example/oauth/callback",
      HOST: "127.0.0.1",
      PORT: "4000",
    });
    expect(serverEnvironment({ mode: "none", environment: {} }, injected)).not.toHaveProperty("OAUTH_MODE");
  });

  it("names the table, its key and its mode", () => {
    const table = { ...PLACE, mode: "encrypted", sdk: { AWS_ACCESS_KEY_ID: "test" } } as const;
    expect(serverEnvironment({ mode: "hosted", environment: {} }, { ...injected, table })).toMatchObject({
      AWS_ACCESS_KEY_ID: "test",
      DB_TABLE_NAME: "notes-tokens",
      DB_TABLE_REGION: "eu-west-1",
      TOKEN_ENCRYPTION_KMS_KEY_ID: PLACE.keyArn,
      TOKEN_ENCRYPTION_MODE: "encrypted",
    });
  });
});
