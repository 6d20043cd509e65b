import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { readTokenStoreSettings, settingsProblems } from "./config.ts";
import { TokenStoreError } from "./errors.ts";

const KEY_ID = "arn:aws:kms:eu-west-1:000000000000:key/11111111-1111-1111-1111-111111111111";
const KEY = { TOKEN_ENCRYPTION_KMS_KEY_ID: KEY_ID };
const TABLE = { DB_TABLE_NAME: "tokens", DB_TABLE_REGION: "eu-west-1" };
const refusal = (code: string, detail = ""): unknown =>
  expect.objectContaining({ name: "TokenStoreError", code, message: expect.stringContaining(detail) });

/** Each problem, by the variable it begins with. */
function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readTokenStoreSettings({}, environment);
  } catch (error) {
    if (error instanceof TokenStoreError) return settingsProblems(error);
  }
  return [];
}

describe("the settings of a deployed server", () => {
  it("are a table and a key, in mode bridge unless something says otherwise", () => {
    expect(readTokenStoreSettings({}, { ...TABLE, ...KEY })).toEqual({
      mode: "bridge",
      rows: { kind: "dynamodb", table: "tokens", region: "eu-west-1" },
      environment: "eu-west-1",
      journalFolder: resolve("data/token-journal"),
      keys: { kind: "kms", keyId: KEY_ID },
    });
    expect(readTokenStoreSettings({}, TABLE)).toMatchObject({ mode: "bridge", keys: undefined });
  });

  it.each<[string | undefined, string | undefined, string]>([
    [undefined, "encrypted", "encrypted"],
    [undefined, "bridge", "bridge"],
    ["encrypted", undefined, "encrypted"],
    ["encrypted", "", "encrypted"],
    ["encrypted", "encrypted", "encrypted"],
    ["bridge", "bridge", "bridge"],
  ])("with %s in code and %s in the variable are in mode %s", (mode, variable, chosen) => {
    const environment = { ...TABLE, ...KEY, TOKEN_ENCRYPTION_MODE: variable };
    expect(readTokenStoreSettings({ mode }, environment).mode).toBe(chosen);
  });

  const WORDS = ["Encrypted", "encrypted ", "plaintext", "off"];
  it.each<readonly [string | undefined, Record<string, string>, string, string]>([
    ["bridge", { TOKEN_ENCRYPTION_MODE: "encrypted", ...KEY }, "mode_conflict", "TOKEN_ENCRYPTION_MODE"],
    ["encrypted", { TOKEN_ENCRYPTION_MODE: "bridge", ...KEY }, "mode_conflict", "TOKEN_ENCRYPTION_MODE"],
    ...WORDS.map(
      (word) => [undefined, { TOKEN_ENCRYPTION_MODE: word }, "settings_invalid", "bridge or encrypted"] as const,
    ),
    ...WORDS.map((word) => [word, {}, "settings_invalid", "in code"] as const),
    [undefined, { TOKEN_ENCRYPTION_MODE: "encrypted" }, "key_missing", "TOKEN_ENCRYPTION_KMS_KEY_ID"],
    ["encrypted", {}, "key_missing", ""],
    [undefined, { TOKEN_ENCRYPTION_KMS_KEY_ID: "arn:aws:s3:::bucket" }, "key_id_invalid", "enter the key's ARN"],
  ])("are refused with %j in code and %j", (mode, variables, code, detail) => {
    expect(() => readTokenStoreSettings({ mode }, { ...TABLE, ...variables })).toThrow(refusal(code, detail));
  });

  it("are refused with a key without region on a file", () => {
    const environment = { TOKEN_ENCRYPTION_KMS_KEY_ID: "alias/tokens" };
    expect(() => readTokenStoreSettings({}, environment)).toThrow(refusal("key_id_invalid", "enter the key's ARN"));
  });

  it("are refused with every problem named at once", () => {
    const read = (): unknown => readTokenStoreSettings({}, { DB_TABLE_NAME: "a table" });
    expect(read).toThrow(refusal("settings_invalid", "DB_TABLE_REGION"));
    expect(read).toThrow(refusal("settings_invalid", "not a table's name"));
    expect(() => readTokenStoreSettings({}, { DB_TABLE_REGION: "eu-west-1" })).toThrow(refusal("settings_invalid"));
    const several = { DB_TABLE_NAME: "tokens", TOKEN_ENCRYPTION_MODE: "x", TOKEN_ENCRYPTION_KMS_KEY_ID: "a key" };
    const sentences = [
      /^DB_TABLE_REGION is needed/,
      /^TOKEN_ENCRYPTION_KMS_KEY_ID names no key/,
      /^TOKEN_ENCRYPTION_MODE/,
    ];
    for (const sentence of sentences) {
      expect(problemsOf(several)).toContainEqual(expect.stringMatching(sentence));
    }
    const keyless = { ...TABLE, DB_TABLE_REGION: "eu-west", TOKEN_ENCRYPTION_MODE: "encrypted" };
    expect(problemsOf(keyless)).toEqual([
      "DB_TABLE_REGION is not a region, such as eu-west-1",
      "TOKEN_ENCRYPTION_KMS_KEY_ID is missing, and TOKEN_ENCRYPTION_MODE is encrypted",
    ]);
  });

  it.each(["Europe West", "x.attacker.example/", "eu-west-1.attacker.example", "eu-west", "EU-WEST-1", "eu-west-1\n"])(
    "are refused with the region %j, which becomes a part of the address",
    (region) => {
      expect(() => readTokenStoreSettings({}, { ...TABLE, DB_TABLE_REGION: region })).toThrow(
        refusal("settings_invalid", "DB_TABLE_REGION is not a region"),
      );
    },
  );

  it.each(["us-gov-east-1", "eusc-de-east-1", "ap-southeast-4"])("take the region %s", (region) => {
    expect(readTokenStoreSettings({}, { ...TABLE, DB_TABLE_REGION: region })).toMatchObject({ environment: region });
  });

  it("without a table are a file and a key file, encrypted", () => {
    expect(readTokenStoreSettings({}, { DATA_DIR: "/srv/data" })).toEqual({
      mode: "encrypted",
      rows: { kind: "sqlite", path: "/srv/data/tokens.sqlite" },
      environment: "local",
      journalFolder: "/srv/data/token-journal",
      keys: { kind: "file", path: "/srv/data/tokens.sqlite.key" },
    });
  });
});
