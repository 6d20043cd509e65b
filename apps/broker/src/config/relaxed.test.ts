import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { CLIENT, folderOf, load, MINIMAL, OWN_VENDOR } from "./testing/config-file.ts";

const warningsOf = (fields: object): readonly string[] => load({ ...MINIMAL, ...fields }).warnings;
const vendorsWith = (fields: object): object => ({ vendors: { v: { ...OWN_VENDOR, ...fields } } });

describe("what was relaxed is a warning", () => {
  it("a client that vouches for the browser itself", () => {
    expect(warningsOf({ clients: [{ ...CLIENT, browser_binding: "platform" }] })).toEqual([
      "Client platform has browser_binding platform: the broker does not check that the browser that started a flow finishes it, so the client must",
    ]);
    expect(warningsOf({ clients: [{ ...CLIENT, browser_binding: "required" }] })).toEqual([]);
  });

  it.each(["none", "plain"])("a vendor with pkce %s, each by its id", (pkce) => {
    const vendors = { v: { ...OWN_VENDOR, pkce }, w: { ...OWN_VENDOR, pkce }, x: { ...OWN_VENDOR, pkce: "S256" } };
    expect(warningsOf({ vendors })).toEqual(
      ["v", "w"].map((id) => expect.stringMatching(new RegExp(`^Vendor ${id} has pkce ${pkce}: `))),
    );
  });

  it("a vendor whose callbacks need not say who it is", () => {
    expect(warningsOf(vendorsWith({ iss_required: false }))).toEqual([
      "Vendor v has iss_required false: its callbacks are accepted without iss, so an answer of another vendor is harder to tell from its own",
    ]);
    expect(warningsOf(vendorsWith({ iss_required: true }))).toEqual([]);
  });

  it.each([
    ["the key file beside the store", {}, "data/broker.sqlite.key"],
    ["the keys in a file of their own", { keys: "file:keys.json" }, "keys.json"],
    ["the key file of a store elsewhere", { store: "sqlite:b.db" }, "b.db.key"],
  ])("%s, when others can read or change it", (_, fields, file) => {
    const folder = folderOf({ "broker.yaml": JSON.stringify({ ...MINIMAL, ...fields }), [file]: "{}" });
    const path = join(folder, file);
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(path, mode);
      expect(loadConfig({}, folder).warnings).toEqual([
        `The keys in ${path} can be read or changed by others on this machine: chmod 600`,
      ]);
    }
    chmodSync(path, 0o600);
    expect(loadConfig({}, folder).warnings).toEqual([]);
  });

  it("no key file beside a store that keeps nothing, or that is not used", () => {
    const folder = folderOf({
      "broker.yaml": JSON.stringify({ ...MINIMAL, keys: "file:keys.json" }),
      "data/broker.sqlite.key": "{}",
    });
    chmodSync(join(folder, "data/broker.sqlite.key"), 0o644);
    expect(loadConfig({}, folder).warnings).toEqual([]);
  });
});
