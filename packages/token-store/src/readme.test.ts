import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runReadmeExample } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";

it("the README's example runs as it stands, and prints what it says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  try {
    const { printed, promised } = await runReadmeExample(join(import.meta.dirname, ".."), { DATA_DIR: folder });
    expect(printed).toBe(promised);
    expect(promised).not.toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
