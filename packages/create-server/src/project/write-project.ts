/**
 * Writes a project: the template's files with its name in them, the generated files, and while no
 * registry has it the packed core.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "@oauth-broker/oauth-core";
import type { Choices } from "../choices/choices.ts";
import { type Materials, PACKED, SEVERAL_VENDORS, TEMPLATE } from "../materials/materials.ts";
import { DOCKERIGNORE, GITIGNORE, packageJson } from "./project-files.ts";
import { serviceYaml } from "./service-yaml.ts";
import { forSeveralVendors } from "./several-vendors.ts";

/** The template's name in its own files. */
const TEMPLATE_NAME = "mcp-template";
const TEMPLATE_TITLE = "MCP template";

/**
 * @param folder new, or empty
 * @returns the paths written, relative to the folder, sorted
 * @throws Error of node:fs
 */
export function writeProject(folder: string, choices: Choices, materials: Materials): string[] {
  const { name, vendors } = choices;
  const template = filesIn(join(materials.folder, TEMPLATE), name);
  const texts = () => filesIn(join(materials.folder, SEVERAL_VENDORS), name);
  const files = new Map([
    ...(vendors.length > 1 ? forSeveralVendors(template, texts(), vendors) : template),
    ["package.json", packageJson(choices, materials)],
    ["service.yaml", serviceYaml(choices)],
    [".gitignore", GITIGNORE],
    [".dockerignore", DOCKERIGNORE],
  ]);
  for (const [path, text] of files) {
    makeFolder(dirname(join(folder, path)));
    writeFileSync(join(folder, path), text);
  }
  if (materials.core === "packed") cpSync(join(materials.folder, PACKED), join(folder, PACKED), { recursive: true });
  return [...files.keys()].sort();
}

function filesIn(folder: string, name: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const named = (text: string): string =>
    text.replaceAll(TEMPLATE_NAME, name).replaceAll(TEMPLATE_TITLE, titleOf(name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1), named(readFileSync(path, "utf8"))]));
}

/** `my-server` → `My server`. */
function titleOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
