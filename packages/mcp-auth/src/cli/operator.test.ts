import { join } from "node:path";
import { Secret, systemClock } from "@oauth-broker/oauth-core";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import type { Environment } from "@oauth-broker/service/configuration";
import { createLog } from "@oauth-broker/service";
import { sqliteTokenRows } from "@oauth-broker/token-store/sqlite";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createServerRecords } from "../hosted/records/server-key.ts";
import { createSignIns } from "../hosted/pages/sign-ins.ts";
import { createSessions } from "../hosted/sessions/sessions.ts";
import { createUserSessions } from "../hosted/sessions/user-sessions.ts";
import { openStorage } from "../storage.ts";
import { HOSTED, loadHosted, PRE_REGISTERED, SEVERAL } from "../testing/environments.ts";
import { issuersOf, openLinks, runTokenStore } from "./operator.ts";
import { runCommand } from "./run-command.ts";
import { SESSIONS_OF_ONE } from "../hosted/link-policy/link-policy.ts";

const KEY = { user: "U1", vendor: "my-vendor", issuer: "vendor.example.com" };
const TOKENS = { accessToken: new Secret("access"), refreshToken: new Secret("refresh"), tokenType: "Bearer" };

const DEPLOYMENT = {
  audience: "https://server.example.com/mcp",
  deploymentUrl: "https://server.example.com",
  signInGeneration: async () => 0,
  now: systemClock,
};
const log = createLog({ write: () => undefined });

/** The operator's commands in one server's environment, and what they print. */
function operatorOf(environment: Environment) {
  const [out, err]: [string[], string[]] = [[], []];
  const deps = {
    print: (line: string) => void out.push(line),
    say: (line: string) => void err.push(line),
    openLinks: () => openLinks(environment),
    runTokenStore: async () => 0,
  };
  return { out, err, deps };
}

describe("the operator's commands on a server's own storage", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  async function serverWithLink(environment: object): Promise<void> {
    const storage = await openStorage({ now: systemClock, log, environment: { ...environment } });
    await storage.tokens.put(KEY, TOKENS);
    const source = { vendor: KEY.vendor, issuer: KEY.issuer };
    const sessions = { ...createServerRecords(storage), ...DEPLOYMENT, source, links: SESSIONS_OF_ONE };
    await createUserSessions(sessions).add("U1", "s1");
    await storage.close();
  }

  it("list a link, end it, and revoke at the vendor", async () => {
    const vendor = await startScriptedVendor({ "*": {} });
    const environment = {
      ...HOSTED,
      DATA_DIR: folder,
      VENDOR_REVOCATION_URL: `${vendor.url}/revoke`,
      EGRESS_ALLOW_LOOPBACK: "true",
    };
    await serverWithLink(environment);
    const { out, err, deps } = operatorOf(environment);
    expect(await runCommand(["links", "list"], deps)).toBe(0);
    expect(out.splice(0)).toEqual(["works                 my-vendor  U1", "1 link."]);
    expect(await runCommand(["links", "revoke", "U1"], deps)).toBe(0);
    expect([out.splice(0), err]).toEqual([
      [
        "The list of sessions of U1 names none that is live.",
        "The link to my-vendor is removed here.",
        "my-vendor has revoked the token.",
      ],
      [],
    ]);
    expect(await runCommand(["links", "list", "U1"], deps)).toBe(0);
    expect(out).toEqual(["No links."]);
    expect(vendor.received.map(({ body }) => body)).toEqual([expect.stringContaining("token=refresh")]);
    await vendor.close();
  });

  it("say that a link made under another sign-in vendor is left, and leave it", async () => {
    const environment = { ...HOSTED, DATA_DIR: folder };
    const { tokens, ...storage } = await openStorage({ now: systemClock, log, environment });
    const signIn = { vendor: "old", issuer: "https://old.example" };
    await tokens.put({ user: "U2", vendor: "my-vendor", issuer: "vendor.example.com", signIn }, TOKENS);
    await storage.close();
    const { out, err, deps } = operatorOf(environment);
    expect(await runCommand(["links", "revoke", "U2"], deps)).toBe(0);
    expect([out.splice(0), err]).toEqual([
      [
        expect.stringContaining("There is no list of sessions of U2."),
        "U2 has no link and no session: links list names those who do.",
      ],
      ["The link to my-vendor is left: it is of a user who signed in at old."],
    ]);
    expect(await runCommand(["links", "list"], deps)).toBe(0);
    expect(out).toEqual([expect.stringMatching(/^foreign +my-vendor {2}U2/), "1 link."]);
  });

  it("list the links of several vendors, end one, and then all that the user has", async () => {
    const vendor = await startScriptedVendor({ "*": {} });
    const { host } = new URL(vendor.url);
    const endpoints = { AUTHORIZATION: "authorize", TOKEN: "token", USERINFO: "userinfo", REVOCATION: "revoke" };
    const variables = ["MAIN", "CHAT", "WIKI"].flatMap((id): [string, string][] => [
      [`VENDOR_${id}_CLIENT_ID`, `our-${id}`],
      ...Object.entries(endpoints).map(([of, path]): [string, string] => [
        `VENDOR_${id}_${of}_URL`,
        `http://${host}/${path}`,
      ]),
    ]);
    const environment = {
      OAUTH_MODE: "hosted",
      DEPLOYMENT_URL: "https://server.example.com",
      VENDORS: "main,chat,wiki",
      DATA_DIR: folder,
      EGRESS_ALLOW_LOOPBACK: "true",
      ...Object.fromEntries(variables),
    };
    const signIn = { vendor: "main", issuer: host };
    const rows = [
      { user: "U1", ...signIn },
      { user: "U1", vendor: "chat", issuer: host, signIn },
      { user: "U2", vendor: "chat", issuer: host, signIn: { vendor: "old", issuer: "https://old.example" } },
    ];
    const { tokens, ...storage } = await openStorage({ now: systemClock, log, environment });
    for (const row of rows) await tokens.put(row, TOKENS);
    const parts = { ...createServerRecords(storage), ...DEPLOYMENT, source: signIn };
    const sessions = createSessions({ ...parts, links: loadHosted(environment).links });
    const issued = await sessions.start({ user: "U1", clientId: "desk", scope: ["chat:post"] });
    const signIns = createSignIns(parts);
    const cookie = (await signIns.start("U1", "one@main")).split(";")[0];
    const isAlive = async () => [
      (await sessions.identify(issued.tokens.accessToken)) !== undefined,
      (await signIns.read(cookie)) !== undefined,
    ];

    const { out, err, deps } = operatorOf(environment);
    await runCommand(["links", "list"], deps);
    expect(out.splice(0).toSorted()).toEqual([
      "3 links. Users sign in at main.",
      "foreign               chat  U2  signed in at old, https://old.example",
      `works                 chat  U1  signed in at main, ${host}`,
      "works                 main  U1  signed in at main",
    ]);
    expect(await runCommand(["links", "revoke", "U1", "chat"], deps)).toBe(0);
    expect(out.splice(0)).toEqual(["The link to chat is removed here.", "chat has revoked the token."]);
    expect(await runCommand(["links", "revoke", "U1", "chat"], deps)).toBe(0);
    expect(out.splice(0)).toEqual(["U1 has no link to chat."]);
    expect(await isAlive()).toEqual([true, true]);
    expect(await runCommand(["links", "revoke", "U1"], deps)).toBe(0);
    expect(out.splice(0)).toEqual([
      "1 session ended.",
      "The link to main is removed here.",
      "main has revoked the token.",
    ]);
    expect([await isAlive(), err]).toEqual([[false, false], []]);
    // What began before the end stores nothing, not even if there was no link.
    for (const id of ["main", "chat", "wiki"]) {
      const key = { user: "U1", vendor: id, issuer: host, signIn };
      expect((await tokens.readLink(key)).linkVersion, id).toBeGreaterThan(0);
    }
    await storage.close();
    await vendor.close();
  });

  it("create no file", async () => {
    await expect(openLinks({ ...HOSTED, DATA_DIR: folder })).rejects.toThrow(/there is no file .*tokens\.sqlite/);
  });

  it("are refused for a server that stores nothing", async () => {
    await expect(openLinks(PRE_REGISTERED)).rejects.toThrow("OAUTH_MODE is pre-registered");
  });
});

describe("token-store, run from a server", () => {
  afterEach(() => vi.restoreAllMocks());

  it("gets the issuers this server seals under", () => {
    expect(Object.fromEntries(issuersOf(loadHosted(HOSTED)))).toEqual({ "my-vendor": "vendor.example.com" });
    expect(Object.fromEntries(issuersOf(loadHosted(SEVERAL)))).toEqual({
      main: "https://main.example.com",
      slack: expect.any(String),
    });
  });

  it("seals a table in which no row is sealed yet, by the command that its audit advises", async () => {
    const folder = temporaryFolder();
    const environment = { ...HOSTED, DATA_DIR: folder };
    const rows = sqliteTokenRows({ path: join(folder, "tokens.sqlite") });
    const older = { access_token: "plain", updated_at: 1_700_000_000 };
    await rows.change({ pk: "USER#U1", sk: `VENDOR#${KEY.vendor}` }, { set: older }, {});
    await rows.close();
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    expect(await runTokenStore(["audit", "--json"], environment)).toBe(3);
    expect(String(write.mock.lastCall?.[0])).toContain(`: node main.js token-store migrate"`);
    expect(await runTokenStore(["migrate", "--json"], environment)).toBe(0);
    const storage = await openStorage({ now: systemClock, log, environment });
    expect((await storage.tokens.get(KEY))?.tokens.accessToken.reveal()).toBe("plain");
    await storage.close();
  });
});
