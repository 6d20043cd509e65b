/**
 * `store` and `keys`: one line of text each, and which values may be combined. AWS credentials, and
 * the address of a key service other than AWS's, come from the variables of the AWS SDK. The region
 * never does: the same text must not mean different tables on two machines.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isLoopbackName, type Parsed } from "@oauth-broker/service/configuration";
import { isRegionName, isTableName } from "@oauth-broker/token-store";
import { formatPath, nearest, type Say } from "./problems.ts";
import type { Source, Tree } from "./source.ts";
import type { Config, KeysConfig, StoreConfig } from "../config-types.ts";

const KEY_ARN = String.raw`arn:aws[a-z0-9-]{0,24}:kms:(?<region>[a-z0-9-]+):\d{12}:(?:key/(?:mrk-[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|alias/[A-Za-z0-9/_-]{1,250})`;

/** For an editor: every text that the parser below accepts. */
export const STORE_PATTERN = String.raw`^(?:memory:?|sqlite:[^:\0][^\0]*|dynamodb:[A-Za-z0-9._-]{3,255}\?(?:.*&)?region=[a-z]+-.*)$`;
/** For an editor: every text that the parser below accepts. */
export const KEYS_PATTERN = String.raw`^(?:store|file:[^\0]+|kms:${KEY_ARN})$`;

/** Paths are returned as written; build.ts makes them absolute. */
export function parseStore(text: string): Parsed<StoreConfig> {
  // Accepts `memory` without its colon too: in YAML `store: memory:` is not a string, and the
  // quotes are easily forgotten.
  if (text === "memory:" || text === "memory") return { value: { kind: "memory" } };
  const [, scheme, rest = ""] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (scheme === "sqlite") {
    const isPath = rest !== "" && !rest.includes("\0") && !rest.startsWith(":");
    return isPath
      ? { value: { kind: "sqlite", path: rest } }
      : { problem: "must name a file after sqlite: (memory: keeps nothing)" };
  }
  if (scheme === "dynamodb") return parseTable(rest);
  return { problem: "must be sqlite:PATH, dynamodb:TABLE?region=REGION or memory" };
}

export function parseKeys(text: string): Parsed<KeysConfig> {
  if (text === "store") return { value: { kind: "store" } };
  if (/^file:[^\0]+$/.test(text)) return { value: { kind: "file", path: text.slice("file:".length) } };
  if (text.startsWith("kms:")) return parseKmsKey(text.slice("kms:".length));
  return { problem: "must be store, file:PATH or kms:ARN" };
}

/** The file whose reader can open the keys: their own file, or the one beside the store. */
export function keyFileOf({ store, keys }: Pick<Config, "store" | "keys">): string | undefined {
  if (keys.kind === "file") return keys.path;
  return keys.kind === "store" && store.kind === "sqlite" ? `${store.path}.key` : undefined;
}

const REMEDIES =
  "keys: kms:ARN (in the table, sealed under a KMS key) or keys: file:PATH (a file that you bring to every machine)";

/**
 * Checks where the broker's keys are, given the store. A table has no file beside it, memory
 * keeps nothing, and a key file that one machine creates for itself would lock out the other
 * machines. Reports only conflicts between the two fields; the schema checks each field on its own.
 */
export function checkKeysetPlace(
  { store: storeText = "sqlite:-", keys: keysText = "store" }: Tree,
  { directory }: Source,
  say: Say,
): void {
  if (typeof storeText !== "string" || typeof keysText !== "string") return;
  const [where, how] = [parseStore(storeText), parseKeys(keysText)];
  if ("problem" in where || "problem" in how) return;
  const [store, keys] = [where.value, how.value];
  const sayOfKeys = (problem: string, expected: string): void =>
    say("keys", problem, expected, "kms:arn:aws:kms:eu-west-1:111122223333:alias/oauth-broker");
  if (store.kind === "dynamodb" && keys.kind === "store") {
    sayOfKeys("must say where the keys are: a DynamoDB table has no key file beside it", REMEDIES);
  } else if (store.kind === "dynamodb" && keys.kind === "file" && !existsSync(resolve(directory, keys.path))) {
    const problem =
      "names a file that does not exist, and with a DynamoDB store the broker does not create it: keys created on one machine would lock out the others";
    sayOfKeys(problem, REMEDIES);
  } else if (store.kind === "memory" && keys.kind === "kms") {
    sayOfKeys("cannot be kms with a memory store, which forgets the sealed keys", "store or file:PATH");
  }
}

const PARAMETERS = ["region", "endpoint"] as const;

/** @param text what follows `dynamodb:` */
function parseTable(text: string): Parsed<StoreConfig> {
  const [table = "", ...queries] = text.split("?");
  if (!isTableName(table)) return { problem: "must name a table after dynamodb:, 3 to 255 of A-Z a-z 0-9 . _ -" };
  const { region, endpoint, problems } = readParameters(queries.join("?"));
  if (region !== undefined && !isRegionName(region))
    problems.push("has a region that does not exist; a region looks like eu-west-1");
  const origin = endpoint === undefined ? undefined : parseEndpoint(endpoint);
  if (origin !== undefined && "problem" in origin) problems.push(origin.problem);
  if (problems.length > 0 || region === undefined) return { problem: problems.join("; ") };
  const at = origin !== undefined && "value" in origin ? { endpoint: origin.value } : {};
  return { value: { kind: "dynamodb", table, region, ...at } };
}

function readParameters(query: string) {
  const found = new URLSearchParams(query);
  const names = [...new Set(found.keys())];
  const unknown = names.filter((name) => !PARAMETERS.some((known) => known === name));
  const meant = unknown.map((name) => nearest(name, PARAMETERS));
  const [region, endpoint] = PARAMETERS.map((name) => found.get(name) ?? undefined);
  const problems: string[] = [];
  // Reports a misspelt region once, not also as missing.
  if (region === undefined && !meant.includes("region"))
    problems.push("must name the region of the table: dynamodb:TABLE?region=eu-west-1");
  for (const [index, name] of unknown.entries()) {
    const known =
      meant[index] === undefined ? `there are ${PARAMETERS.join(" and ")}` : `did you mean ${meant[index]}?`;
    problems.push(`has a parameter ${formatPath([name])}, which is not known: ${known}`);
  }
  const repeated = names.filter((name) => found.getAll(name).length > 1);
  problems.push(...repeated.map((name) => `has ${formatPath([name])} more than once`));
  return { region, endpoint, problems };
}

/** The endpoint is an origin: the SDK adds the paths. */
function parseEndpoint(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return { problem: "has an endpoint that is not an https URL" };
  if (url.protocol === "http:" && !isLoopbackName(url.hostname)) {
    return { problem: "has an endpoint that must be https: http is for loopback only" };
  }
  return url.href === `${url.origin}/`
    ? { value: url.origin }
    : { problem: "has an endpoint with more than scheme, host and port" };
}

/** @param arn what follows `kms:` */
function parseKmsKey(arn: string): Parsed<KeysConfig> {
  const { region = "" } = new RegExp(`^${KEY_ARN}$`).exec(arn)?.groups ?? {};
  return isRegionName(region)
    ? { value: { kind: "kms", keyArn: arn } }
    : { problem: "must name a KMS key after kms: by the ARN of the key or of an alias, which holds its region" };
}
