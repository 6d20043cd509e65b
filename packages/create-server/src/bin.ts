#!/usr/bin/env node
/** The published command: the materials of projects are beside it. */
import { join } from "node:path";
import { create, terminal } from "./create.ts";
import { readMaterials } from "./materials/materials.ts";

const materials = readMaterials(join(import.meta.dirname, "materials"));

process.exitCode = await create(process.argv.slice(2), {
  ...terminal,
  from: process.cwd(),
  repository: undefined,
  version: materials.version,
  materials: async () => materials,
});
