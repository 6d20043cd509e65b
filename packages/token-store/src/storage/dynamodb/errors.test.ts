import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { dynamoEngine } from "../../testing/aws/dynamo-engine.ts";
import { fromDynamoError } from "./errors.ts";
import { dynamodbRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;
const PLACE = { table: "tokens", region: "eu-west-1" };
const SECRET = "canary-of-a-token";

const dynamo = dynamoEngine();

/** @returns the error of a ping of a store on that table */
async function pingError(options: { readonly table: string; readonly endpoint?: string }): Promise<unknown> {
  const { region, endpoint } = dynamo.engine;
  const store = dynamodbRecordStore({ region, endpoint, now: () => NOW, ...options });
  try {
    return await store.ping().catch((error: unknown) => error);
  } finally {
    await store.close();
  }
}

describe("a table that cannot be used", () => {
  it("that is not there: says how to make it", async () => {
    expect(await pingError({ table: "no-such-table" })).toMatchObject({
      code: "temporarily_unavailable",
      description: "The record store does not respond",
      extras: { reason: "store_unavailable" },
      detail: expect.stringMatching(
        /^there is no table no-such-table in region eu-west-1 at http.*pk \(S\) and sk \(S\)/,
      ),
    });
  });

  it("with other keys: says so", async () => {
    const client = new DynamoDBClient(dynamo.engine);
    const table = `keys-${process.pid}`;
    await client.send(
      new CreateTableCommand({
        TableName: table,
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
        BillingMode: "PAY_PER_REQUEST",
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await pingError({ table })).toMatchObject({
      detail: `the keys of table ${table} are not pk (S) and sk (S)`,
    });
    client.destroy();
  });

  it("where nothing listens: says where it looked", async () => {
    expect(await pingError({ table: "tokens", endpoint: "http://127.0.0.1:1" })).toMatchObject({
      code: "temporarily_unavailable",
      detail: expect.stringContaining("no connection to http://127.0.0.1:1: check the region"),
    });
  });

  it("at an endpoint in quotation marks: names the variable", async () => {
    expect(await pingError({ table: "tokens", endpoint: '"http://127.0.0.1:1"' })).toMatchObject({
      code: "temporarily_unavailable",
      detail: expect.stringMatching(/^AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL is not a URL/),
    });
  });
});

describe("what DynamoDB says", () => {
  const named = (name: string, message: string = SECRET): Error => Object.assign(new Error(message), { name });

  it.each([
    ["UnrecognizedClientException", /credentials were refused/],
    ["InvalidSignatureException", /credentials were refused/],
    ["ExpiredTokenException", /credentials were refused/],
    ["CredentialsProviderError", /credentials were refused or not found/],
    [
      "AccessDeniedException",
      /may not use table tokens: it needs dynamodb:GetItem, PutItem, UpdateItem, as a deployed server also DeleteItem and Query, and for commands over the whole table Scan$/,
    ],
    ["ProvisionedThroughputExceededException", /table tokens is throttled/],
    ["ThrottlingException", /table tokens is throttled/],
    ["SyntaxError", /^no whole answer from DynamoDB in region eu-west-1: check the network/],
    ["TimeoutError", /^no whole answer/],
    ["ERR_INVALID_CHAR", /^the AWS credentials have a line break/],
    ["InternalServerError", /^DynamoDB: InternalServerError$/],
    ["ValidationException", /^DynamoDB: ValidationException$/],
  ])("%s becomes temporarily_unavailable, and a sentence for the operator that quotes nothing", (name, detail) => {
    const error = fromDynamoError(named(name), PLACE);
    expect(error).toMatchObject({ code: "temporarily_unavailable", detail: expect.stringMatching(detail) });
    expect(`${error.message} ${error.detail}`).not.toContain(SECRET);
  });

  it("a network error names the region, or the endpoint that was given", () => {
    const error = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    expect(fromDynamoError(error, PLACE).detail).toMatch(/^no connection to DynamoDB in region eu-west-1/);
    expect(fromDynamoError(error, { ...PLACE, endpoint: "http://x" }).detail).toMatch(/^no connection to http:\/\/x/);
  });

  it.each([
    "Item size has exceeded the maximum allowed size",
    "Item size to update has exceeded the maximum allowed size",
  ])("bar#TS-16 %s: is no outage", (message) => {
    expect(fromDynamoError(named("ValidationException", message), PLACE)).toMatchObject({ code: "too_large" });
  });
});
