/**
 * The permitted values of `store: dynamodb:…` and `keys: kms:…`, and which settings must go
 * together.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Config, loadConfig } from "../config.ts";
import { folderOf, load, MINIMAL, problemsOf, refusalOf } from "./testing/config-file.ts";

const TABLE = "dynamodb:flows?region=eu-west-1";
const KEY = "kms:arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const storeOf = (store: string): Config["store"] => load({ ...MINIMAL, store, keys: KEY }).store;
const problemsOfStore = (store: string): string[] => problemsOf({ store, keys: KEY });

describe("a table", () => {
  it("is a name, a region and, if need be, an endpoint", () => {
    const flows = { kind: "dynamodb", table: "flows", region: "eu-west-1" };
    expect(storeOf(TABLE)).toEqual(flows);
    const endpoint = "https://vpce-1a2b.dynamodb.eu-west-1.vpce.amazonaws.com";
    for (const written of [endpoint, `${endpoint}/`, encodeURIComponent(endpoint)]) {
      expect(storeOf(`${TABLE}&endpoint=${written}`)).toEqual({ ...flows, endpoint });
    }
  });

  it.each(["us-east-1", "ap-southeast-5", "us-gov-west-1", "us-iso-east-1", "cn-north-1", "eusc-de-east-1"])(
    "may lie in %s",
    (region) => {
      expect(storeOf(`dynamodb:Flows_of-1.prod?region=${region}`)).toMatchObject({ table: "Flows_of-1.prod", region });
    },
  );

  it.each(["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"])(
    "may be reached over http on loopback, which is a warning: %s",
    (endpoint) => {
      const config = load({ ...MINIMAL, store: `${TABLE}&endpoint=${endpoint}`, keys: KEY, keys_min_revision: 1 });
      expect(config.store).toMatchObject({ endpoint });
      expect(config.warnings).toEqual(["store speaks http to a DynamoDB on this machine: that is for tests"]);
    },
  );

  it("with a KMS key needs keys_min_revision: nothing else outside the table keeps the revision", () => {
    const fields = { ...MINIMAL, store: TABLE, keys: KEY };
    expect(load(fields).warnings).toEqual([expect.stringMatching(/^keys_min_revision is not set/)]);
    expect(load({ ...fields, keys_min_revision: "4" })).toMatchObject({ keysMinRevision: 4, warnings: [] });
    expect(load({ ...MINIMAL, store: "sqlite:./broker.sqlite", keys: KEY }).warnings).toEqual([]);
  });

  it("may come from STORE, whose name the problem then has", () => {
    const folder = folderOf({ "broker.yaml": JSON.stringify({ ...MINIMAL, keys: KEY }) });
    expect(loadConfig({ STORE: TABLE }, folder).store).toMatchObject({ table: "flows" });
    const { problems } = refusalOf(() => loadConfig({ STORE: "dynamodb:flows" }, folder));
    expect(problems.map(({ path }) => path)).toEqual(["STORE"]);
  });

  const NO_TABLE = "store must name a table after dynamodb:, 3 to 255 of A-Z a-z 0-9 . _ -";
  const NO_REGION = "store must name the region of the table: dynamodb:TABLE?region=eu-west-1";
  const NO_SUCH_REGION = "store has a region that does not exist; a region looks like eu-west-1";
  it.each([
    ["dynamodb:", NO_TABLE],
    ["dynamodb:ab?region=eu-west-1", NO_TABLE],
    ["dynamodb:a/b/c?region=eu-west-1", NO_TABLE],
    ["dynamodb:arn:aws:dynamodb:eu-west-1:111122223333:table/flows", NO_TABLE],
    [`dynamodb:${"t".repeat(256)}?region=eu-west-1`, NO_TABLE],
    ["dynamodb:flows", NO_REGION],
    ["dynamodb:flows?endpoint=https://db.example", NO_REGION],
    ["dynamodb:flows?region=", NO_SUCH_REGION],
    ["dynamodb:flows?region=eu-west", NO_SUCH_REGION],
    ["dynamodb:flows?region=EU-WEST-1", NO_SUCH_REGION],
    ["dynamodb:flows?regoin=eu-west-1", "store has a parameter regoin, which is not known: did you mean region?"],
    [`${TABLE}&endpont=x`, "store has a parameter endpont, which is not known: did you mean endpoint?"],
    [`${TABLE}&ttl=1`, "store has a parameter ttl, which is not known: there are region and endpoint"],
    [`${TABLE}&region=eu-west-2`, "store has region more than once"],
    [`${TABLE}&endpoint=db.example`, "store has an endpoint that is not an https URL"],
    [`${TABLE}&endpoint=ftp://db.example`, "store has an endpoint that is not an https URL"],
    [`${TABLE}&endpoint=http://db.example`, "store has an endpoint that must be https: http is for loopback only"],
    [`${TABLE}&endpoint=https://u:p@db.example`, "store has an endpoint with more than scheme, host and port"],
    [`${TABLE}&endpoint=https://db.example/path`, "store has an endpoint with more than scheme, host and port"],
    [
      "dynamodb:flows?zone=a&endpoint=http://db.example",
      `${NO_REGION}; has a parameter zone, which is not known: there are region and endpoint; has an endpoint that must be https: http is for loopback only`,
    ],
  ])("is refused: %s", (store, problem) => {
    expect(problemsOfStore(store)).toEqual([problem]);
  });

  it("is refused without showing what its parameters hold", () => {
    const { message } = refusalOf(() => load({ ...MINIMAL, store: `${TABLE}&secret_key=CANARY-value`, keys: KEY }));
    expect(message).toContain("secret_key");
    expect(message).not.toContain("CANARY");
  });
});

describe("a KMS key", () => {
  it.each([
    "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "arn:aws:kms:us-east-1:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab",
    "arn:aws-us-gov:kms:us-gov-west-1:111122223333:alias/oauth-broker",
    "arn:aws:kms:eu-west-1:111122223333:alias/team/oauth_broker",
  ])("is named by %s", (keyArn) => {
    for (const store of [TABLE, "sqlite:./broker.sqlite"]) {
      expect(load({ ...MINIMAL, store, keys: `kms:${keyArn}` }).keys).toEqual({ kind: "kms", keyArn });
    }
  });

  it.each([
    "",
    "alias/oauth-broker",
    "1234abcd-12ab-34cd-56ef-1234567890ab",
    "arn:aws:kms:eu-west-1:111122223333:key/x",
    "arn:aws:kms::111122223333:alias/oauth-broker",
    "arn:aws:kms:eu-west-1:1111:alias/oauth-broker",
    "arn:aws:s3:eu-west-1:111122223333:alias/oauth-broker",
    "arn:aws:kms:eu-west-1:111122223333:alias/",
    "arn:aws:kms:eu-west-1:111122223333:alias/a b",
  ])("is not named by %j", (keyArn) => {
    expect(problemsOf({ store: TABLE, keys: `kms:${keyArn}` })).toEqual([
      "keys must name a KMS key after kms: by the ARN of the key or of an alias, which holds its region",
    ]);
  });
});

describe("store and keys together", () => {
  it.each([{}, { keys: "store" }])("a table has no key file beside it: %j", (fields) => {
    const { problems } = refusalOf(() => load({ ...MINIMAL, store: TABLE, ...fields }));
    expect(problems).toEqual([
      {
        path: "keys",
        problem: "must say where the keys are: a DynamoDB table has no key file beside it",
        expected: expect.stringMatching(/^keys: kms:ARN .* or keys: file:PATH /),
        example: expect.stringMatching(/^kms:arn:/),
      },
    ]);
  });

  it("a key file of a table must be there, as every machine needs the same", () => {
    expect(problemsOf({ store: TABLE, keys: "file:keys.json" })).toEqual([
      expect.stringMatching(
        /^keys names a file that does not exist, and with a DynamoDB store the broker does not create it/,
      ),
    ]);
    const folder = folderOf({
      "broker.yaml": JSON.stringify({ ...MINIMAL, store: TABLE, keys: "file:keys.json" }),
      "keys.json": "{}",
    });
    expect(loadConfig({}, folder).keys).toEqual({ kind: "file", path: join(folder, "keys.json") });
    expect(load({ ...MINIMAL, keys: "file:keys.json" }).keys).toMatchObject({ kind: "file" });
  });

  it("memory forgets what KMS would seal", () => {
    expect(problemsOf({ store: "memory", keys: KEY })).toEqual([
      "keys cannot be kms with a memory store, which forgets the sealed keys",
    ]);
  });

  it("are reported beside every other problem, once each", () => {
    expect(problemsOf({ store: TABLE, limits: { body_bytes: 0 } })).toEqual([
      "limits.body_bytes must be at least 1",
      "keys must say where the keys are: a DynamoDB table has no key file beside it",
    ]);
    expect(problemsOf({ store: "dynamodb:flows" })).toEqual([NO_REGION_AT_ALL]);
    expect(problemsOf({ store: TABLE, keys: "file:" })).toEqual(["keys must be store, file:PATH or kms:ARN"]);
  });
});

const NO_REGION_AT_ALL = "store must name the region of the table: dynamodb:TABLE?region=eu-west-1";
