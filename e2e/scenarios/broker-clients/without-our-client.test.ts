/**
 * docs/without-our-client.md as it stands: its JavaScript as a module, its commands as a shell
 * script, both against a broker and an OpenID provider.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { driveConsent, type DriveConsentOptions } from "@oauth-broker/simulators";
import { beforeAll, describe, expect, it } from "vitest";
import { REDIRECT_URI, SCOPE } from "../../support/broker/configuration.ts";
import { startHarness } from "../../support/broker/harness.ts";
import { ROOT } from "../../support/paths.ts";
import { temporaryFolder } from "../../support/service-process.ts";
import { plantSecret } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

type Members = Readonly<Record<string, unknown>>;

/** What the page's JavaScript declares. */
interface Page {
  start(session: object, request: { readonly vendor: string; readonly scope?: string }): Promise<string>;
  finish(session: object, callbackUrl: string): Promise<Members>;
  refresh(tokens: Members): Promise<Members>;
  check(tokens: Members, scope?: string): Promise<Members>;
  revoke(tokens: Members): Promise<Members>;
}

const TEXT = readFileSync(join(ROOT, "docs", "without-our-client.md"), "utf8");
const blocks = (language: string): string =>
  [...TEXT.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, code = ""]) => code).join("\n");

const harness = shared(() => startHarness());
let env: Readonly<Record<string, string>>;
let page: Page;

beforeAll(async () => {
  env = {
    BROKER_URL: harness.baseUrl,
    BROKER_CLIENT_ID: "platform",
    BROKER_CLIENT_SECRET: harness.secrets.platform,
    REDIRECT_URI,
  };
  const file = join(temporaryFolder(), "page.mjs");
  const declared = "export { start, finish, refresh, check, revoke };";
  writeFileSync(file, [`const process = { env: ${JSON.stringify(env)} };`, blocks("js"), declared].join("\n"));
  page = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Page;
});

const WANTED = { vendor: "op", scope: SCOPE };

async function decide(url: string, decision: DriveConsentOptions["decision"] = "approve"): Promise<string> {
  const callback = await driveConsent(url, { decision, stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
  plantSecret("broker's code", callback.searchParams.get("code"));
  return callback.href;
}

describe("the page's code", () => {
  it("connects, refreshes with the newest token, and revokes", async () => {
    const session = {};
    const tokens = await page.finish(session, await decide(await page.start(session, WANTED)));
    expect(tokens).toMatchObject({ token_type: "Bearer", vendor: "op", connection: expect.any(String) });
    const newer = await page.refresh(tokens);
    expect(newer).toMatchObject({ refresh_token: expect.any(String), connection: expect.any(String) });
    expect(newer["refresh_token"]).not.toBe(tokens["refresh_token"]);
    expect(await page.revoke(newer)).toEqual({ revoked: "token" });
    // Equal requests share an answer for a while: a repetition is not a replay until then.
    harness.now.advance(120);
    await expect(page.refresh(tokens)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  it("asks whether a connection is good", async () => {
    const session = {};
    const tokens = await page.finish(session, await decide(await page.start(session, WANTED)));
    expect(await page.check(tokens)).toMatchObject({ active: true, account: { issuer: harness.vendor.issuer } });
  });

  it("throws the broker's error with its members, and says that the user cancelled", async () => {
    await expect(page.start({}, { ...WANTED, vendor: "nonexistent" })).rejects.toMatchObject({
      error: "invalid_request",
    });
    const session = {};
    const callback = await decide(await page.start(session, { vendor: "op" }), "cancel");
    await expect(page.finish(session, callback)).rejects.toMatchObject({ error: "access_denied" });
  });

  it("bar#XA-7 refuses another session's callback, and any that is not one answer of the broker", async () => {
    const [mine, theirs] = [{}, {}];
    await page.start(mine, WANTED);
    const other = new URL(await decide(await page.start(theirs, WANTED)));
    const changed = (change: (query: URLSearchParams) => void): string => {
      const url = new URL(other);
      change(url.searchParams);
      return url.href;
    };
    const before = harness.vendorCalls("/token");
    const begun = structuredClone(theirs);
    for (const [session, callback, reason] of [
      [mine, other.href, "has not begun this flow"],
      [{}, other.href, "has not begun this flow"],
      [begun, changed((query) => query.append("code", "another")), "came twice"],
      [structuredClone(begun), changed((query) => query.delete("iss")), "not from the broker"],
      [structuredClone(begun), changed((query) => query.set("iss", `${harness.baseUrl}/`)), "not from the broker"],
    ] as const) {
      await expect(page.finish(session, callback)).rejects.toThrow(reason);
    }
    expect(harness.vendorCalls("/token")).toBe(before);
    expect(await page.finish(theirs, other.href)).toMatchObject({ vendor: "op" });
    await expect(page.finish(theirs, other.href)).rejects.toThrow("has finished it");
    expect(harness.vendorCalls("/token")).toBe(before + 1);
  });

  it("gives the attacker's account to a victim where all users share the sessions' table", async () => {
    const table = {};
    await page.start(table, WANTED);
    const callback = await decide(await page.start(table, WANTED));
    expect(await page.finish(table, callback)).toMatchObject({ vendor: "op" });
  });
});

const lacking = ["curl", "openssl"].filter((name) => spawnSync(name, ["--version"]).error !== undefined);
if (lacking.length > 0)
  process.stderr.write(`The commands of the page are not tried: no ${lacking.join(", no ")} here\n`);

it.each(lacking.length === 0 ? [blocks("sh")] : [])(
  "the page's commands connect, refresh and revoke",
  async (script) => {
    const shell = spawn("sh", ["-eu", "-c", script], { env: { PATH: process.env["PATH"], VENDOR: "op", ...env } });
    let errors = "";
    shell.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
    const line = async (): Promise<string> => String((await lines.next()).value);
    const opened = (await line()).replace(/^Open /, "");
    await line();
    shell.stdin.write(`${await decide(opened)}\n`);
    const ended = once(shell, "close");
    expect(JSON.parse(await line())).toMatchObject({ token_type: "Bearer", connection: expect.any(String) });
    expect(JSON.parse(await line())).toEqual({ revoked: "token" });
    expect([await ended, errors]).toEqual([[0, null], ""]);
  },
);
