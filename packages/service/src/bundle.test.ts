/** What a service's one file may load before it has checked the version of Node.js. */
import { expect, it } from "vitest";
import { bundle } from "./bundle.ts";

it.each([
  ["fs", true],
  ["node:fs/promises", true],
  ["node:sqlite", true],
  ["node:newer-than-the-node-that-builds", true],
  ["sqlite", false],
  ["fs-extra", false],
  ["./fs", false],
])("loads %s by a call, after the version check: %s", (id, isBuiltin) => {
  const [plugin] = bundle({ name: "The server" }).plugins;
  expect(plugin?.resolveId.filter.id.test(id)).toBe(isBuiltin);
});
