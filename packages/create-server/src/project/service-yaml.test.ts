import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Choices } from "../choices/choices.ts";
import { makeTemplate, ROOT } from "../materials/make-materials.ts";
import { TEMPLATE } from "../materials/materials.ts";
import { environmentOf, exposedPaths, serviceYaml } from "./service-yaml.ts";

const CHOICES: Choices = {
  name: "notes",
  mode: "hosted",
  callback: "platform",
  vendors: [{ id: "github", scopes: ["read:user"] }],
};
const accepts = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync(join(ROOT, "apps/mcp-template/service.schema.json"), "utf8")) as object,
);
const at = (id: string, ...scopes: readonly string[]): Choices["vendors"] => [{ id, scopes }];

describe("service.yaml", () => {
  it("is the template's own, byte for byte", () => {
    const own = readFileSync(join(ROOT, "apps/mcp-template/service.yaml"), "utf8");
    expect(serviceYaml({ ...CHOICES, name: "mcp-template" })).toBe(own);
  });

  it.each([
    { ...CHOICES, callback: "server" as const },
    { ...CHOICES, vendors: at("github", "true", "a#b", "- x", "a: b", "{c}", "https://api.example.com/auth/x.read") },
    { ...CHOICES, vendors: at("github", "true") },
    { ...CHOICES, vendors: at("github") },
    { ...CHOICES, vendors: at("shopify", "read:user") },
  ])("says what was meant: %j", (choices) => {
    const file = parse(serviceYaml(choices)) as Record<string, unknown>;
    expect(accepts(file) ? [] : accepts.errors).toEqual([]);
    expect(file).toEqual({
      name: "notes",
      mode: "hosted",
      enable_db: true,
      service: { expose: exposedPaths(choices) },
      environment: environmentOf(choices),
    });
  });

  it.each([
    ["shopify", { shop: "" }],
    ["highlevel", { version_id: "" }],
    ["intercom", undefined],
  ])("leaves the placeholders of %s that have no default to the author", (vendor, open) => {
    const { VENDOR_PLACEHOLDERS: text } = environmentOf({ ...CHOICES, vendors: at(vendor, "read:user") });
    expect(text === undefined ? undefined : JSON.parse(text)).toEqual(open);
  });

  it("names for editors the schema that a project has beside it", () => {
    const materials = temporaryFolder();
    makeTemplate(materials);
    const [, path = ""] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(serviceYaml(CHOICES)) ?? [];
    expect(existsSync(join(materials, TEMPLATE, path))).toBe(true);
  });

  it("has neither a table nor open paths in pre-registered mode", () => {
    const file = parse(serviceYaml({ ...CHOICES, mode: "pre-registered" })) as Record<string, unknown>;
    expect(accepts(file) ? [] : accepts.errors).toEqual([]);
    expect(Object.keys(file)).toEqual(["name", "mode", "environment"]);
  });
});
