/**
 * Wycheproof's key sets and signatures against the path an ID token takes: algorithm, key look-up,
 * signature.
 */
import { systemTimer } from "../../mechanics/system-timer.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../ports.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { parseIdToken, requireAlg, verifySignature } from "./checks.ts";
import { createSigningKeys } from "./jwks.ts";

interface Vectors {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly comment: string;
    readonly public?: JsonObject;
    readonly private?: JsonObject;
    readonly tests: readonly { tcId: number; comment: string; jws: string; result: string }[];
  }[];
}

const read = (name: string): Vectors =>
  JSON.parse(
    readFileSync(new URL(`../../../../../e2e/vectors/wycheproof/${name}`, import.meta.url), "utf8"),
  ) as Vectors;

const ALGS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/**
 * The header as in an ID token; the payload of a vector is any text, so its claims are not read.
 */
async function isAccepted(jws: string, set: JsonObject): Promise<boolean> {
  const fetch = async (): Promise<Response> => Response.json(set);
  const keys = createSigningKeys({ fetch, now: fixedClock(1_700_000_000), timer: systemTimer });
  try {
    const [header, , signature] = jws.split(".");
    const readable = parseIdToken(`${header}.e30.${signature}`).header;
    if (!/^[\w-]+\.[\w-]*\.[\w-]+$/.test(jws)) return false;
    const alg = requireAlg(readable, ALGS);
    await verifySignature(jws, { alg, kid: readable.kid }, "https://v.example/k", { keys });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "vendor_response_invalid" });
    return false;
  }
}

function asSet(group: Vectors["testGroups"][number]): JsonObject {
  const key = group.public ?? group.private ?? {};
  return "keys" in key ? key : { keys: [key] };
}

/** Where we differ from Wycheproof, and why. */
const EXCEPTIONS: Readonly<Record<string, { readonly accepted: boolean; readonly why: string }>> = {
  "json_web_key_test.json 7": {
    accepted: true,
    why: "a modulus of the ROCA family harms the vendor alone, and node:crypto does not know it",
  },
  "json_web_signature_test.json 346": { accepted: false, why: "the header's alg is PS384, the key's is PS256" },
  "json_web_signature_test.json 347": { accepted: false, why: "the key's alg is ES521, which does not exist" },
  "json_web_signature_test.json 350": { accepted: false, why: "as 346" },
  "json_web_signature_test.json 351": { accepted: false, why: "as 347" },
};

describe.each([
  ["json_web_key_test.json", 26],
  ["json_web_signature_test.json", 401],
])("%s", (name, count) => {
  const { numberOfTests, testGroups } = read(name);
  const vectors = testGroups.flatMap((group) =>
    group.tests.map((test) => ({ ...test, group: group.comment, set: asSet(group) })),
  );

  it("is whole", () => {
    expect(vectors).toHaveLength(count);
    expect(numberOfTests).toBe(count);
  });

  it.each(vectors)("bar#JW-3 $tcId $group: $comment ($result)", async ({ tcId, jws, set, result }) => {
    // A symmetric key never comes from a key set, however sound.
    const isSymmetric = JSON.stringify(set).includes('"kty":"oct"');
    const expected = EXCEPTIONS[`${name} ${tcId}`]?.accepted ?? (result === "valid" && !isSymmetric);
    expect(await isAccepted(jws, set)).toBe(expected);
  });
});
