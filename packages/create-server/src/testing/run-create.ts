import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, type CreateDeps } from "../create.ts";
import { makeTemplate } from "../materials/make-materials.ts";
import { type Materials, PACKED } from "../materials/materials.ts";

export interface Ran {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

/** The command without a terminal, in a folder outside of the repository. */
export async function runCreate(
  args: readonly string[],
  deps: Pick<CreateDeps, "from" | "materials"> & Partial<CreateDeps>,
): Promise<Ran> {
  const texts = { printed: "", said: "" };
  const code = await create(args, {
    repository: undefined,
    version: "9.9.9",
    prompts: undefined,
    print: (text) => void (texts.printed += `${text}\n`),
    say: (text) => void (texts.said += `${text}\n`),
    ...deps,
  });
  return { code, ...texts };
}

export const TARBALLS = ["mcp-auth.tgz", "simulators.tgz"] as const;

/** Materials with the template as it is, and tarballs that have only their names in them. */
export function makeTestMaterials(folder: string): Materials {
  mkdirSync(join(folder, PACKED), { recursive: true });
  for (const name of TARBALLS) writeFileSync(join(folder, PACKED, name), name);
  makeTemplate(folder);
  return { folder, version: "9.9.9", core: "packed", node: ">=24.15", tools: { vitest: "1.0.0" } };
}
