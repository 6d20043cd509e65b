/**
 * Where the broker's own keys may be, given the store: a table has no file beside it, memory keeps nothing, and a key
 * file that one machine of several makes for itself would lock the others out.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseKeys, parseStore } from "./store-and-keys.ts";
import type { Problem } from "./problems.ts";
import type { Source, Tree } from "./source.ts";

const REMEDIES =
  "keys: kms:ARN (in the table, sealed under a KMS key) or keys: file:PATH (a file that you bring to every machine)";

/** Only what is wrong between the two fields; each by itself is judged by the schema. */
export function checkKeysetPlace({ store = "sqlite:-", keys = "store" }: Tree, { directory }: Source): Problem[] {
  if (typeof store !== "string" || typeof keys !== "string") return [];
  const [where, how] = [parseStore(store), parseKeys(keys)];
  if ("problem" in where || "problem" in how) return [];
  const problem = (text: string, expected: string): Problem[] => [
    { path: "keys", problem: text, expected, example: "kms:arn:aws:kms:eu-west-1:111122223333:alias/oauth-broker" },
  ];
  if (where.value.kind === "dynamodb" && how.value.kind === "store") {
    return problem("must say where the keys are: a DynamoDB table has no key file beside it", REMEDIES);
  }
  if (where.value.kind === "dynamodb" && how.value.kind === "file" && !existsSync(resolve(directory, how.value.path))) {
    return problem(
      "names a file that does not exist, and with a DynamoDB store none is made: keys that one machine made would lock out the others",
      REMEDIES,
    );
  }
  if (where.value.kind === "memory" && how.value.kind === "kms") {
    return problem("cannot be kms with a memory store, which forgets the sealed keys", "store or file:PATH");
  }
  return [];
}
