import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { describeConfiguration } from "../../config.ts";
import { load, SECRET } from "../testing/config-file.ts";

describe("describeConfiguration", () => {
  const fields = describeConfiguration();

  it("has a sentence and a type for every field, each once", () => {
    expect(fields.length).toBeGreaterThan(60);
    expect(new Set(fields.map(({ path }) => path)).size).toBe(fields.length);
    for (const { path, type, description } of fields) {
      expect(path).toMatch(/^[a-z_]+(?:\[\]|\.[a-z_]+|\.<id>)*$/);
      expect(type).not.toBe("");
      expect(description, path).toMatch(/^[A-Z`].*\.$/s);
    }
  });

  it.each([
    "base_url",
    "listen.port",
    "owners[].approved_vendors[]",
    "clients[].client_secret",
    "clients[].token_encrypted_response_alg",
    "vendors.<id>.credentials[].client_secret",
    "vendors.<id>.accepts_new_authorizations",
    "egress.ca_file",
  ])("knows %s", (path) => {
    expect(fields.map((field) => field.path)).toContain(path);
  });

  it("gives examples and defaults that are YAML", () => {
    for (const { example, default: value } of fields) {
      expect(() => parse(`x: ${example ?? ""}`)).not.toThrow();
      expect(() => parse(`x: ${value ?? ""}`)).not.toThrow();
    }
  });
});

describe("broker.example.yaml", () => {
  it("loads as it is, once its variables are set", () => {
    const text = readFileSync(new URL("../../../broker.example.yaml", import.meta.url), "utf8");
    const names = Array.from(text.matchAll(/\benv:([A-Z_]+)/g), ([, name = ""]) => name);
    const config = load(text, { env: Object.fromEntries(names.map((name) => [name, SECRET])) });
    expect(config).toMatchObject({ sandbox: false, warnings: [] });
    expect(config.clients.length).toBeGreaterThan(0);
    expect(config.vendors.size).toBeGreaterThan(0);
  });

  it("shows every top-level field", () => {
    const text = readFileSync(new URL("../../../broker.example.yaml", import.meta.url), "utf8");
    for (const path of new Set(describeConfiguration().map(({ path }) => path.split(/[.[]/)[0]))) {
      expect(text).toMatch(new RegExp(`^(?:# )?${path}:`, "m"));
    }
  });
});
