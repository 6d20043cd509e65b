import { describe, expect, it } from "vitest";
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

  it("takes a word", async () => {
    for (const args of [["find"], ["find", "--", "-"]]) {
      const { code, stderr } = await runInProcess(args);
      expect([code, stderr.split("\n")[0]]).toEqual([2, "vendor: find takes a word."]);
    }
    expect((await runInProcess(["find", "--help"])).stdout).toContain("npm run vendor -- find WORD");
  });
});
