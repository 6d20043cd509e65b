import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../sources.ts";
import { runInProcess } from "../testing/in-process.ts";

describe("vendor find", () => {
  it("lists what contains a word, best matches first, with its state", async () => {
    const { code, stdout } = await runInProcess(["find", "stripe"]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("stripe-connect  Stripe Connect (Standard) (also stripe)  two-sources");
    expect(lines.length).toBeGreaterThan(2);
    expect(stdout).toContain("stripe-apps  Stripe Apps");
  });

  it("shows a single one whole: endpoints, placeholders, sources, and the addresses that lost", async () => {
    const { code, stdout } = await runInProcess(["find", "sales", "force"]);
    expect(code).toBe(0);
    for (const text of [
      "salesforce  Salesforce",
      "https://{login_host}/services/oauth2/token",
      "{login_host}",
      "a host that ends in .salesforce.com",
      "default login.salesforce.com",
      "  source  ",
      "confidence high",
    ]) {
      expect(stdout).toContain(text);
    }
  });

  it("shows an id whole and lists the others, with whose clients, which apps and what comes first", async () => {
    const { stdout: first } = await runInProcess(["find", "podium"]);
    expect(first).toContain("  first                   The vendor reviews a developer account");
    expect(first).not.toContain("  clients of ");
    expect(first.trimEnd().split("\n").at(-1)).toMatch(/^podium-accounts {2}/);
    const { stdout: second } = await runInProcess(["find", "podium-accounts"]);
    expect(second).toContain("  beside                  podium, for apps whose tokens accounts.podium.com issues\n");
    const { stdout: zendesk } = await runInProcess(["find", "zendesk"]);
    expect(zendesk).toContain("  clients of              the vendor, good at every tenant\n");
    expect((await runInProcess(["find", "auth0"])).stdout).toContain("  clients of              each tenant\n");
  });

  it("names the nearest where no vendor has the word", async () => {
    expect(await runInProcess(["find", "hubspott"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "No vendor has 'hubspott' in its name: did you mean hubspot?\n",
    });
  });

  it("prints of a first vendor what its page shows: one that is off, and today's counts", async () => {
    const page = readFileSync(join(ROOT, "docs/good-first-vendor.md"), "utf8");
    const [, id = "", shown = ""] = /vendor -- find (\S+)\n```\n\n```\n(.*?\n)```/s.exec(page) ?? [];
    const { stdout } = await runInProcess(["find", id]);
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(shown.split("\n").filter((line) => line !== "  …")));
    const entries = [...REGISTRY.values()];
    const off = entries.filter(({ vendor }) => !vendor.enabled).length;
    const listed = entries.filter(({ verification }) => verification.status !== "first-class").length;
    for (const count of [
      `${off} vendors wait`,
      `length of ${listed - off} but got ${listed - off + 1}`,
      `expected ${listed + 1} to be ${listed}`,
    ]) {
      expect(page.replaceAll("\n", " ")).toContain(count);
    }
  });

  it("takes a word", async () => {
    for (const args of [["find"], ["find", "--", "-"]]) {
      const { code, stderr } = await runInProcess(args);
      expect([code, stderr.split("\n")[0]]).toEqual([2, "vendor: find takes a word."]);
    }
    expect((await runInProcess(["find", "--help"])).stdout).toContain("npm run vendor -- find WORD");
  });
});
