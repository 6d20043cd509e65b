import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readmeBlock } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { create } from "./create.ts";
import { ABOUT, PACKED, readMaterials, TEMPLATE } from "./materials/materials.ts";

const PACKAGE = join(import.meta.dirname, "..");

it("the README's command writes the service.yaml that the README shows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  const materials = join(folder, "materials");
  for (const part of [PACKED, TEMPLATE]) mkdirSync(join(materials, part), { recursive: true });
  const about = { version: "1.0.0", core: "packed", node: ">=24.15", tools: {} };
  writeFileSync(join(materials, ABOUT), JSON.stringify(about));
  try {
    const [, options = ""] = /^npm run create-server \.\.\/my-server -- (.*)$/m.exec(readmeBlock(PACKAGE, "sh")) ?? [];
    const code = await create(["my-server", ...options.split(" ")], {
      from: folder,
      repository: undefined,
      version: "1.0.0",
      materials: async () => readMaterials(materials),
      prompts: undefined,
      print: () => undefined,
      say: () => undefined,
    });
    expect(code).toBe(0);
    const written = readFileSync(join(folder, "my-server", "service.yaml"), "utf8");
    expect(parse(written)).toEqual(parse(readmeBlock(PACKAGE, "yaml")));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
