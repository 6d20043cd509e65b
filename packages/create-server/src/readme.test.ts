import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readmeBlock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { ABOUT, PACKED, readMaterials, TEMPLATE } from "./materials/materials.ts";
import { runCreate } from "./testing/run-create.ts";

const PACKAGE = join(import.meta.dirname, "..");

it("the README's command writes the service.yaml that the README shows", async () => {
  const from = temporaryFolder();
  const folder = join(from, "materials");
  for (const part of [PACKED, TEMPLATE]) mkdirSync(join(folder, part), { recursive: true });
  const about = { version: "1.0.0", core: "packed", node: ">=24.15", tools: {} };
  writeFileSync(join(folder, ABOUT), JSON.stringify(about));
  const [, options = ""] = /^npm run create-server \.\.\/my-server -- (.*)$/m.exec(readmeBlock(PACKAGE, "sh")) ?? [];
  const materials = async () => readMaterials(folder);
  const { code } = await runCreate(["my-server", ...options.split(" ")], { from, materials });
  expect(code).toBe(0);
  const written = readFileSync(join(from, "my-server", "service.yaml"), "utf8");
  expect(parse(written)).toEqual(parse(readmeBlock(PACKAGE, "yaml")));
});
