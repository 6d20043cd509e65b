import { join } from "node:path";
import { runReadmeExample } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";

it("the README's example runs as it stands, and prints what it says", async () => {
  const { printed, promised } = await runReadmeExample(join(import.meta.dirname, ".."));
  expect(printed).toBe(promised);
  expect(promised).not.toBe("");
});
