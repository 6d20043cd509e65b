import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { compare, readList } from "./drift.ts";
import { runInProcess } from "../testing/in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "drift-"));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const SAME = "https://api.hubapi.com/oauth/another/token";
const NANGO = file(
  "providers.yaml",
  `hubspot:
    auth_mode: OAUTH2
    authorization_url: https://app.hubspot.com/oauth/authorize
    token_url: ${SAME}
hubspot-sandbox:
    alias: hubspot
no-oauth:
    auth_mode: API_KEY
    token_url: https://other.example/token
zendesk:
    auth_mode: OAUTH2
    authorization_url: https://\${connectionConfig.subdomain}.zendesk.com/oauth/authorizations/new
    token_url: https://\${connectionConfig.subdomain}.zendesk.example/oauth/tokens
`,
);
const GRANT = file(
  "oauth.json",
  JSON.stringify({
    hubspot: { oauth: 2, authorize_url: "https://moved.example/authorize", access_url: SAME },
    twitter: { oauth: 1, authorize_url: "https://api.twitter.com/oauth/authenticate" },
  }),
);

describe("vendor drift", () => {
  it("says which hosts differ from each list, and leaves another path and other grants alone", async () => {
    const { code, stdout, stderr } = await runInProcess(["drift", NANGO, GRANT]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "zendesk  token_endpoint: zendesk.com here, zendesk.example in the list",
      "hubspot  authorization_endpoint: app.hubspot.com here, moved.example in the list",
    ]);
    expect(stderr.trimEnd().split("\n")).toEqual([
      `${NANGO}: vendors that are entries: 2; hosts moved: 1; explained by the entry: 0`,
      `${GRANT}: vendors that are entries: 1; hosts moved: 1; explained by the entry: 0`,
    ]);
    expect(code).toBe(1);
  });

  it("is 0 where nothing moved, and where an entry says why it has another host", async () => {
    const same = file("same.json", JSON.stringify({ hubspot: { oauth: 2, access_url: SAME } }));
    expect((await runInProcess(["drift", same, "--json"])).code).toBe(0);
    const entry = REGISTRY.get("hubspot") ?? expect.fail("no such vendor");
    const endpoints = { confidence: "high", agreeing: 2, superseded: ["old.example (list): ended"] } as const;
    const known = { ...entry, verification: { ...entry.verification, endpoints } };
    const { moved } = compare([{ id: "hub_spot", tokenUrl: "https://old.example/token" }], [known]);
    expect(moved).toMatchObject([{ theirs: "old.example", known: "old.example (list): ended" }]);
  });

  it("follows an alias of the list, and passes over a host that is a placeholder", () => {
    expect(readList(NANGO)).toContainEqual(expect.objectContaining({ id: "hubspot-sandbox", tokenUrl: SAME }));
    const tokenUrl = "https://${connectionConfig.host}/token";
    expect(compare([{ id: "hubspot", tokenUrl }], REGISTRY.values()).moved).toEqual([]);
  });

  it.each([
    ["no file", ["drift"]],
    ["a file that is missing", ["drift", join(folder, "absent.yaml")]],
    ["a file of no known format", ["drift", file("list.txt", "a: b")]],
    ["a file that cannot be read as either", ["drift", file("list.json", "{ a: [")]],
  ])("is 2 for %s", async (_title, args) => {
    const { code, stdout } = await runInProcess(args);
    expect([code, stdout]).toEqual([2, ""]);
  });
});
