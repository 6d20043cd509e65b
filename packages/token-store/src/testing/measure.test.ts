import { expect, it } from "vitest";
import { measureEnvelope, measureStores } from "./measure.ts";

it("measures every store and the envelope", async () => {
  const figures = [...(await measureStores(20)), ...(await measureEnvelope(1))];
  expect(figures.map(({ name }) => name)).toEqual([
    "memory",
    "sqlite, normal",
    "sqlite, full",
    "seal",
    "open",
    "deriveKey",
  ]);
  for (const { wall, slowest } of figures) {
    expect(wall).toBeGreaterThan(0);
    expect(slowest).toBeGreaterThan(0);
  }
});
