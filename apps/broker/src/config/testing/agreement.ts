/**
 * Compares what the broker says about a configuration with what broker.schema.json says. Every test
 * that loads a file does so: a file that the broker accepts is accepted by the schema, and a mistake
 * is refused by both, except those that no schema can say.
 */
import { Ajv } from "ajv";
import { expect } from "vitest";
import { parse } from "yaml";
import type { Problem } from "../problems.ts";
import { valueAt } from "../schema/issues.ts";
import { configurationJsonSchema } from "../schema/json-schema.ts";

const accepts = new Ajv({ strict: false, allowUnionTypes: true }).compile(configurationJsonSchema());

/** What no schema can say, or not wholly, by name; the problems as `path problem`. */
const BEYOND_THE_SCHEMA: Readonly<Record<string, RegExp>> = {
  "what is in variables, and BASE_URL in place of base_url": /^(?:[A-Z][A-Z0-9_]* |base_url is missing)/,
  "what a reference leads to": / (?:refers to|names) (?:a|the) (?:file|environment)/,
  "what a secret, key or certificate is once a reference is resolved":
    /(?:client_secret|initial_access_token\S*|private_key|certificate) (?:must |is not an? |does not belong|has )/,
  "the keys of a key set": /\.jwks (?:has |must be a key set)/,
  "the second way to authenticate, and what encrypted answers need":
    /^clients\[\d+\](?: has client_secret|\.token_encrypted_response_alg needs)/,
  "ids that other entries have, or that the registry has":
    / (?:is not one of the owners|belongs to the owner|is already used by|is not a known vendor|has two entries with the same id)/,
  "what depends on the registry's vendor":
    / (?:is missing|is not what this vendor takes|as this vendor calls it|contradicts the registry|is another name of|is the id of vendors that|is not a vendor of the registry|has a value that is no tenant|is without \{access_token\})/,
  "keys that fit the store": /^keys (?:cannot be kms|must say where)/,
  "the parameters of a table": /^store .*(?:has a parameter|has a region|has an endpoint|more than once)/,
  "all of a URL's rules, and what egress allows":
    /(?:[._]endpoint|_uri|_uris\[\d+\]|issuer) (?:must |has braces|is of this broker)|^egress\.(?:allow_cidrs|proxy)/,
  "placeholders that are declared and fit":
    / (?:which is not declared under placeholders|that does not fit its own pattern|must be a regular expression)/,
  "names that the broker sets itself": / is a (?:parameter|header) only the broker sets/,
  "how two fields go together":
    /authorization_code_lifetime_seconds is too short|(?:account|token|revocation) (?:is beside|is without|needs the name|has a scheme)/,
};

/** @param problems what the broker reports; empty: it accepts the file */
export function expectAgreement(text: string, problems: readonly Problem[]): void {
  let tree: unknown;
  try {
    tree = parse(text, { logLevel: "error" });
  } catch {
    return;
  }
  const isValid = accepts(tree ?? {});
  if (problems.length === 0) {
    expect(accepts.errors, "of broker.schema.json, about a file that the broker takes").toBeNull();
  }
  const sayable = problems
    .filter(({ path }) => !/^(?:env|file):/.test(String(valueAt(tree, path.split(/[.[\]]+/)))))
    .map(({ path, problem }) => `${path} ${problem}`)
    .filter((problem) => !Object.values(BEYOND_THE_SCHEMA).some((pattern) => pattern.test(problem)));
  if (isValid) expect(sayable, "problems that broker.schema.json does not see").toEqual([]);
}
