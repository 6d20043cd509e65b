import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { explainStartFailure } from "@oauth-broker/service";
import { CLIENT, moveSecret, NOW, openTestStorage } from "../testing/test-storage.ts";
import type { Deployment } from "./connector.ts";

const storage = ofEachTest(openTestStorage);

const SETTINGS = { ...CLIENT, clientSecret: new Secret("canary-of-the-client-secret") };
const DEPLOYMENT: Deployment = {
  connectorId: "notes",
  mode: "hosted",
  enableDb: true,
  expose: ["/token"],
  target: { host: "127.0.0.1", port: 4000 },
  pid: 1,
  deployedAt: NOW,
};

describe("the store of connectors", () => {
  it("makes a draft, finds it again in another process, and lists it", async () => {
    const { connectors } = storage;
    const made = await connectors.create({ id: "notes", name: "Notes" });
    expect(made).toMatchObject({ id: "notes", name: "Notes", state: "draft", createdAt: NOW });
    expect(made).not.toHaveProperty("serverUrl");
    await connectors.create({ id: "boards", name: "Boards" });
    const other = await storage.reopen();
    expect(await other.connectors.find("notes")).toEqual(made);
    expect((await other.connectors.list()).map(({ id }) => id)).toEqual(["boards", "notes"]);
    await other.close();
  });

  it("refuses a name that is taken, and one that is malformed", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes" });
    await expect(connectors.create({ id: "notes", name: "Other" })).rejects.toThrow(/already exists/);
    for (const id of ["Notes", "a", "", "../x", "1a", "a-", "a".repeat(64)]) {
      await expect(connectors.create({ id, name: "x" })).rejects.toThrow(/2 to 63 lower case letters/);
      expect(await connectors.find(id)).toBeUndefined();
    }
    expect((await connectors.find("notes"))?.name).toBe("Notes");
  });

  it("of twenty that make the same connector at once, one does; of twenty others all do", async () => {
    const { connectors } = storage;
    const same = await Promise.allSettled(
      Array.from({ length: 20 }, () => connectors.create({ id: "same", name: "s" })),
    );
    expect(same.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (let index = 0; index < 20; index += 1) await connectors.create({ id: `other-${index}`, name: "o" });
    expect(await connectors.list()).toHaveLength(21);
  });

  it("keeps a secret that comes out for the deploy only, and lies sealed in the file", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes" });
    const changed = await connectors.changeSettings("notes", SETTINGS);
    expect(changed.settings).toMatchObject({ clientId: "client-1", hasClientSecret: true });
    expect(inspect(changed, { depth: 10 }) + JSON.stringify(changed)).not.toContain("canary");
    expect((await connectors.clientSecret("notes"))?.reveal()).toBe("canary-of-the-client-secret");
    const token = await connectors.platformToken("notes");
    await storage.records.ping();
    for (const file of ["platform.sqlite", "platform.sqlite-wal"]) {
      const bytes = readFileSync(join(storage.folder, file));
      for (const secret of ["canary", token.reveal()]) expect(bytes.includes(secret)).toBe(false);
    }
    const forgotten = await connectors.changeSettings("notes", { clientSecret: null });
    expect(forgotten.settings).toMatchObject({ clientId: "client-1", hasClientSecret: false });
    expect(await connectors.clientSecret("notes")).toBeUndefined();
  });

  it("a sealed secret that was moved to another token endpoint does not open", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes", settings: SETTINGS });
    await moveSecret(storage);
    await expect(connectors.clientSecret("notes")).rejects.toThrow(/cannot be opened/);
  });

  it("without its key file it names that, what is lost, and how to begin again", async () => {
    await storage.connectors.create({ id: "notes", name: "Notes" });
    const file = join(storage.folder, "platform.key");
    rmSync(file);
    const { connectors, close } = await storage.reopen();
    const said = await connectors
      .platformToken("notes")
      .catch((error: unknown) => explainStartFailure(error, "The platform"));
    for (const part of [file, "so are the secrets and connections", "deploy init"]) expect(said).toContain(part);
    await close();
  });

  it("settings that contradict each other are refused and change nothing", async () => {
    const { connectors } = storage;
    const before = await connectors.create({ id: "notes", name: "Notes", settings: SETTINGS });
    await expect(
      connectors.changeSettings("notes", { scopes: "read", tokenUrl: "http://id.example.com/token" }),
    ).rejects.toThrow(/tokenUrl/);
    expect(await connectors.find("notes")).toEqual(before);
    expect((await connectors.clientSecret("notes"))?.reveal()).toBe("canary-of-the-client-secret");
  });

  it("changes of many at once are all there", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes" });
    await Promise.all([
      connectors.changeSettings("notes", SETTINGS),
      connectors.recordDeployment(DEPLOYMENT, "draft", "http://127.0.0.1:5000/mcp"),
      connectors.claimServerUrl("notes", "http://127.0.0.1:5000/mcp"),
    ]);
    expect(await connectors.find("notes")).toMatchObject({
      settings: { clientId: "client-1" },
      serverUrl: "http://127.0.0.1:5000/mcp",
    });
    expect(await connectors.deployment("notes")).toEqual(DEPLOYMENT);
  });

  it("a server's URL is claimed once", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes" });
    expect(await connectors.claimServerUrl("notes", "http://127.0.0.1:5000/mcp")).toBe("http://127.0.0.1:5000/mcp");
    expect(await connectors.claimServerUrl("notes", "http://127.0.0.1:6000/mcp")).toBe("http://127.0.0.1:5000/mcp");
  });

  it("writes deployment and state together, and an active connector stays active", async () => {
    const { connectors } = storage;
    await connectors.create({ id: "notes", name: "Notes" });
    const url = "http://127.0.0.1:5000/mcp";
    expect(await connectors.recordDeployment(DEPLOYMENT, "active", url)).toMatchObject({
      state: "active",
      serverUrl: url,
    });
    expect((await connectors.recordDeployment(DEPLOYMENT, "draft", url)).state).toBe("active");
  });

  it("a connector that does not exist cannot be changed", async () => {
    await expect(storage.connectors.changeSettings("unknown", {})).rejects.toThrow(/does not exist/);
    await expect(storage.connectors.clientSecret("unknown")).rejects.toThrow(/does not exist/);
  });
});
