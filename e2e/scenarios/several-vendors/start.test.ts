/**
 * The start of a server with several vendors, as an operator meets it: mistakes are reported all at
 * once, a server of one vendor goes on with several, and another sign-in vendor has to be meant.
 */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Environment, hostedEnvironment, runMcpCommand, startMcpServer } from "../../support/mcp/process.ts";
import { type GitHubVendor, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { send } from "../../support/broker/platform.ts";
import { temporaryFolder } from "../../support/service-process.ts";

let vendor: GitHubVendor;
beforeAll(async () => {
  vendor = await startGitHubVendor();
});
afterAll(() => vendor.close());

/** The variables of the practice vendor under a prefix, beside a second vendor. */
async function several(): Promise<Environment> {
  const ours = Object.entries(vendor.env).flatMap(([name, value]): [string, string][] => {
    if (name === "VENDOR") return [];
    return [[name.startsWith("VENDOR_") ? name.replace("VENDOR_", "VENDOR_GITHUB_") : name, value]];
  });
  return {
    ...(await hostedEnvironment()),
    ...Object.fromEntries(ours),
    VENDORS: "github,slack",
    VENDOR_SLACK_CLIENT_ID: "our-slack-id",
    OAUTH_DYNAMIC_REGISTRATION: "open",
  };
}

describe("several vendors", () => {
  it("are refused with every mistake by name, and leave nothing behind", async () => {
    const env = { ...(await several()), VENDOR: "github", VENDOR_SCOPES: "repo", VENDOR_GITHUP_SCOPES: "repo" };
    const mistakes = { SIGN_IN: "linear", SESSION_MAX_DAYS: "0", OAUTH_CALLBACK: "platform", METRICS_PORT: "x" };
    const folder = temporaryFolder();
    const ended = await runMcpCommand({ ...env, ...mistakes }, folder);
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    for (const name of ["VENDOR", "VENDOR_SCOPES", "VENDOR_GITHUP_SCOPES", ...Object.keys(mistakes)])
      expect(ended.stderr).toMatch(new RegExp(`^ +${name} `, "m"));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("come after one vendor over the same table, and another sign-in vendor has to be adopted", async () => {
    const folder = temporaryFolder();
    const env = await several();
    const one = await startMcpServer(
      {
        ...(await hostedEnvironment()),
        ...vendor.env,
        DEPLOYMENT_URL: env["DEPLOYMENT_URL"] ?? "",
        PORT: env["PORT"] ?? "",
      },
      folder,
    );
    expect((await send(`${one.url}/readyz`)).status).toBe(200);
    await one.stop();

    const server = await startMcpServer(env, folder);
    const { body } = await send(`${server.url}/.well-known/oauth-protected-resource`);
    expect(body["scopes_supported"]).toEqual(
      expect.arrayContaining([expect.stringMatching(/^github:/), "slack:users:read"]),
    );
    // Beside the running server: an absent link is done, an unknown vendor is an error.
    const revoke = async (...args: string[]) => runMcpCommand(env, folder, "links", "revoke", ...args);
    expect(await revoke("1", "slack")).toMatchObject({ code: 0, stdout: "1 has no link to Slack.\n" });
    expect(await revoke("1", "linear")).toMatchObject({
      code: 1,
      stderr: "linear is not one of VENDORS: github, slack.\n",
    });
    await server.stop();

    const other = { ...env, SIGN_IN: "slack" };
    const refused = await runMcpCommand(other, folder);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("SIGN_IN is another vendor than the one whose users' sessions are in this table");
    expect(refused.stderr).toContain("ADOPT_SIGN_IN=true");
    for (const adopting of [{ ...other, ADOPT_SIGN_IN: "true" }, other])
      await (await startMcpServer(adopting, folder)).stop();
    expect((await runMcpCommand(env, folder)).code).toBe(1);
  });
});
