import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkIssueForm, checkWorkflow } from "./github-files.ts";
import { ROOT } from "../sources.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("a workflow", () => {
  const path = ".github/workflows/release.yml";
  const text = read(path);
  const checkout = /actions\/checkout@\S+/.exec(text)?.[0] ?? "";

  it("of this repository is as GitHub wants it", async () => {
    expect(await checkWorkflow(path, text)).toEqual([]);
  });

  it.each([
    ["a key that does not exist", "timeout-minutes: 20", "timeout-minuets: 20", "timeout-minuets"],
    ["a job that does not exist", "needs: publish", "needs: publsh", "publsh"],
    ["a permission that does not exist", "id-token: write", "id-token: wirte", "wirte"],
    ["an expression of nothing", "github.token", "githb.token", "githb"],
    ["an action without a version", checkout, "actions/checkout", "actions/checkout"],
  ])("with %s is refused", async (_, right, wrong, named) => {
    expect(text).toContain(right);
    const messages = (await checkWorkflow(path, text.replace(right, wrong))).map(({ message }) => message);
    expect(messages.join("\n")).toContain(named);
  });

  it("that releases calls the script that the dry run calls, and holds no token of the registry", () => {
    const { jobs } = parse(text) as { readonly jobs: Readonly<Record<string, { readonly steps: readonly object[] }>> };
    const commands = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap((step) => ("run" in step ? [step.run] : [])),
    );
    expect(commands).toEqual(["npm run release", expect.stringMatching(/^gh release create [^\n;&|]+$/)]);
    expect(text).not.toMatch(/secrets\./);
  });
});

describe("an issue form", () => {
  const field = (more: object): object => ({ type: "input", id: "one", attributes: { label: "One" }, ...more });
  const form = (more: object): string =>
    JSON.stringify({ name: "Bug", description: "Something is wrong", body: [field({})], ...more });
  const messages = (more: object): string[] => checkIssueForm("form.yml", form(more)).map(({ message }) => message);

  it("with name, description and a field is shown", () => {
    expect(messages({})).toEqual([]);
  });

  it.each([
    ["no description", { description: " " }, "description Too small"],
    ["an unknown key", { lables: ["bug"] }, "lables"],
    [
      "nothing to fill in",
      { body: [{ type: "markdown", attributes: { value: "Hello" } }] },
      "body has no field to fill in",
    ],
    ["an unknown type", { body: [field({}), field({ id: "two", type: "text" })] }, "body.1.type "],
    ["no label", { body: [field({ attributes: {} })] }, "body.0.attributes.label "],
    ["two fields of one id", { body: [field({}), field({})] }, "body has an id twice"],
    ["a dropdown without options", { body: [field({ type: "dropdown" })] }, "body.0.attributes.options "],
    [
      "an option twice",
      { body: [field({ type: "dropdown", attributes: { label: "One", options: ["a", "a"] } })] },
      "body.0.attributes.options has an option twice",
    ],
  ])("with %s is refused", (_, more, message) => {
    expect(messages(more)).toEqual([expect.stringContaining(message)]);
  });

  it("has other ways to report beside it, each with its address", () => {
    const links = (link: object): string => JSON.stringify({ blank_issues_enabled: false, contact_links: [link] });
    const link = { name: "Security", about: "Privately", url: "https://example.com" };
    expect(checkIssueForm("config.yml", links(link))).toEqual([]);
    expect(checkIssueForm("config.yml", links({ ...link, url: "SECURITY.md" }))).toHaveLength(1);
    expect(checkIssueForm("config.yml", "contact_links: []")).toHaveLength(1);
  });
});
