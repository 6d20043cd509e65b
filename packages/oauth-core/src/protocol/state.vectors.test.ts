import { readFileSync } from "node:fs";
import { compactVerify, importJWK } from "jose";
import type { JWK } from "jose";
import { describe, expect, it } from "vitest";
import { OAuthError } from "./errors.ts";
import { createStateCodec } from "./state.ts";

interface JwsVectors {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    readonly private?: JWK;
    readonly public?: JWK;
    readonly tests: readonly { tcId: number; comment: string; jws: unknown; result: string }[];
  }[];
}

/** Project Wycheproof, see the README beside the file. */
const file: JwsVectors = JSON.parse(
  readFileSync(new URL("../../../../e2e/vectors/wycheproof/json_web_signature_test.json", import.meta.url), "utf8"),
);
const vectors = file.testGroups.flatMap((group) =>
  group.tests.map((test) => ({
    ...test,
    jws: typeof test.jws === "string" ? test.jws : JSON.stringify(test.jws),
    jwk: group.private ?? group.public,
  })),
);

/**
 * The vector's own key where it is symmetric, else its public modulus or coordinate: what a
 * confused verifier would use.
 */
function keyOf(jwk: JWK | undefined): Buffer {
  return Buffer.from(jwk?.k ?? jwk?.n ?? jwk?.x ?? "", "base64url");
}

describe("Wycheproof's JWS vectors", () => {
  it("are all here", () => {
    expect(vectors).toHaveLength(file.numberOfTests);
    expect(vectors).toHaveLength(401);
  });

  it.each(vectors)("bar#CB-1 accepts none as a state: $tcId $comment ($result)", async ({ jws, jwk }) => {
    const key = keyOf(jwk);
    const kid = typeof jwk?.kid === "string" && jwk.kid !== "" ? jwk.kid.replaceAll(/[^\w.:~-]/g, "_") : "kid";
    const codec = createStateCodec({
      keys: { active: () => ({ kid, key }), find: () => Promise.resolve(key) },
      audience: "https://broker.example.com",
      now: () => 1_700_000_000,
    });
    await expect(codec.verify(jws)).rejects.toThrow(OAuthError);
  });

  // Marked invalid by Wycheproof, accepted by a reader whose base64url is lenient: what our
  // comparison of bytes is for.
  const LENIENT = [360, 365, 367, 368, 370, 375];

  it.each(vectors.filter(({ tcId }) => LENIENT.includes(tcId)))(
    "bar#CB-3 $tcId passes a lenient reader",
    async ({ jws, jwk }) => {
      await expect(compactVerify(jws, await importJWK(jwk ?? {}))).resolves.toBeDefined();
    },
  );
});
