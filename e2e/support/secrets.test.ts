/** The search itself must be able to find a secret. */
import { expect, it } from "vitest";
import { findSecrets, plantSecret, plantedCount } from "./secrets.ts";

it("finds a planted secret as it is, in a URL, and in base64, and finds nothing else", () => {
  const secret = "a secret/with+every=awkward-character";
  plantSecret("the secret", secret);
  plantSecret("too short to mean anything", "short");
  plantSecret("nothing", undefined);
  expect(plantedCount()).toBe(1);
  for (const text of [`"${secret}"`, `?x=${encodeURIComponent(secret)}`, Buffer.from(secret).toString("base64")]) {
    expect(findSecrets(`before ${text} after`)).toEqual(["the secret"]);
  }
  expect(findSecrets("a secret, with every awkward character, short")).toEqual([]);
});
