import { afterEach, describe, expect, it } from "vitest";
import { createLog } from "@oauth-broker/service";
import { serve } from "../serve.ts";
import { freePort } from "../routes/ingress.ts";
import { type DeployFixture, openDeployFixture, PLATFORM } from "../testing/run-deploy.ts";
import { HOSTED_YAML, PRE_REGISTERED_YAML, serverProject } from "../testing/server-project.ts";
import { callbackWarning, redirectUriOf } from "./redirect-uri.ts";
import { recipientOfConnector } from "./recipient.ts";

const SHARED = `${PLATFORM}/oauth/callback`;
const OWN = `${PLATFORM}/oauth/connectors/notes/callback`;

let deploy: DeployFixture;

afterEach(() => deploy.close());

/** A platform with the project of one server, whose connector may already exist. */
async function open(yaml: string) {
  deploy = await openDeployFixture(serverProject(yaml));
  return {
    init: async (callback?: "own" | "shared") => {
      await deploy.init(callback);
      return (await deploy.storage.connectors.find("notes")) ?? expect.fail("no connector");
    },
    status: async () => {
      await deploy.status();
      return deploy.printed().at(-1);
    },
  };
}

/** A connector as the first release stored it. */
async function forgetCallback(): Promise<void> {
  const key = { kind: "connector", id: "notes" };
  const { data, stage } = (await deploy.storage.records.get(key)) ?? expect.fail("no record");
  const from = { stage, expect: { revision: data["revision"] as string } };
  await deploy.storage.records.advance(key, from, { stage, set: { revision: "first" }, remove: ["callback"] });
}

describe("the redirect URI of a connector", () => {
  it("rfc9700#4.4.2.2 is its own when its server is hosted, and deploy init prints it", async () => {
    const platform = await open(HOSTED_YAML);
    const connector = await platform.init();
    expect(redirectUriOf(connector, PLATFORM)).toBe(OWN);
    expect(callbackWarning(connector, PLATFORM)).toBeUndefined();
    expect(deploy.said()).toContain(OWN);
    expect(await platform.status()).toMatch(new RegExp(`redirect URI +${OWN}$`, "m"));
    expect(deploy.said() + deploy.printed().join()).not.toContain("Warning");
  });

  it("is the shared one when the client is pre-registered, or at the broker", async () => {
    const platform = await open(PRE_REGISTERED_YAML);
    const connector = await platform.init();
    expect(deploy.said()).toContain(SHARED);
    for (const registration of ["pre_registered_client", "broker", "none"] as const) {
      const settings = { ...connector.settings, registration };
      expect(redirectUriOf({ ...connector, settings }, PLATFORM)).toBe(SHARED);
      expect(callbackWarning({ ...connector, settings, callback: "shared" }, PLATFORM)).toBeUndefined();
    }
  });

  it("rfc9700#4.4.2.2 is its own if the server's endpoints were entered as a vendor's", async () => {
    const platform = await open(PRE_REGISTERED_YAML);
    const connector = { ...(await platform.init()), serverUrl: "https://notes.example/mcp" };
    const own = { registration: "pre_registered_client", clientId: "platform" } as const;
    for (const entered of [
      { authorizationUrl: "https://NOTES.example:443/authorize", tokenUrl: "https://vendor.example/token" },
      { authorizationUrl: "https://vendor.example/authorize", tokenUrl: "https://notes.example/token" },
      { vendorOrIssuer: "https://notes.example" },
    ]) {
      const settings = { ...connector.settings, ...own, ...entered };
      expect(redirectUriOf({ ...connector, settings }, PLATFORM)).toBe(OWN);
      expect(callbackWarning({ ...connector, settings, callback: "shared" }, PLATFORM)).toContain("notes shares");
    }
    const settings = { ...connector.settings, ...own, vendorOrIssuer: "github" };
    expect(redirectUriOf({ ...connector, settings }, PLATFORM)).toBe(SHARED);
  });

  it("does not lie below another", async () => {
    const platform = await open(HOSTED_YAML);
    const connector = await platform.init();
    const own = ["notes", "notes-2", "callback"].map((id) => redirectUriOf({ ...connector, id }, PLATFORM));
    const all = [SHARED, ...own];
    for (const one of all) expect(all.filter((other) => `${other}/`.startsWith(`${one}/`))).toEqual([one]);
  });

  it("is the literal one, with a warning wherever it matters, where that is asked for", async () => {
    const platform = await open(HOSTED_YAML);
    const connector = await platform.init("shared");
    expect(redirectUriOf(connector, PLATFORM)).toBe(SHARED);
    expect(deploy.said()).toContain("Warning: notes shares the redirect URI");
    expect(await platform.status()).toMatch(/^Warning: notes shares the redirect URI/m);
    const [lines, said]: [string[], string[]] = [[], []];
    const log = createLog({ write: (line) => void lines.push(line) });
    const options = { platformUrl: PLATFORM, allowCidrs: [], port: await freePort(), maxConnections: 10 };
    const { storage } = deploy;
    const context = { storage, log, say: (text: string) => void said.push(text), stopped: Promise.resolve() };
    await serve(options, context);
    expect(said).toEqual([`Open ${PLATFORM}`, expect.stringContaining("Warning: notes shares the redirect URI")]);
    expect(lines.join("")).toContain('"event":"shared_callback"');
    const connectors = { ...storage.connectors, list: async () => Promise.reject(new Error("damaged")) };
    await expect(serve(options, { ...context, storage: { ...storage, connectors } })).rejects.toThrow("damaged");
    expect(said).toHaveLength(2);
  });

  it("stays the literal one for a connector of an earlier release, until its own is asked for", async () => {
    const platform = await open(HOSTED_YAML);
    await platform.init();
    await forgetCallback();
    const known = await platform.init();
    expect(redirectUriOf(known, PLATFORM)).toBe(SHARED);
    expect(deploy.lastSaid()).toMatch(/nothing was changed[^]*Warning: notes shares/);
    expect(deploy.lastSaid()).toContain("deploy init --own-callback");
    const changed = await platform.init("own");
    expect(redirectUriOf(changed, PLATFORM)).toBe(OWN);
    expect(deploy.lastSaid()).toContain(`its redirect URI is now ${OWN}`);
    // The server knows the platform by another client at that redirect URI, so the first grant is
    // not used any more.
    expect(recipientOfConnector(changed)).not.toBe(recipientOfConnector(known));
    expect(await platform.init("own")).toEqual(changed);
    expect(deploy.lastSaid()).toContain("nothing was changed");
  });
});
