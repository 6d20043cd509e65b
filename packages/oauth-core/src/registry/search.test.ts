import { describe, expect, it } from "vitest";
import { REGISTRY } from "./registry.ts";
import { searchVendors } from "./search.ts";
import { defineVendor } from "./vendor.ts";

const entry = (id: string, name: string, aliases?: string[], enabled = true) => ({
  vendor: defineVendor({ id, name, enabled }),
  ...(aliases === undefined ? {} : { aliases }),
});
const ENTRIES = [
  entry("notebox", "Note Box"),
  entry("box", "Box"),
  entry("boxed-off", "Boxed", undefined, false),
  entry("boxed-on", "Boxed"),
  entry("drop-box", "Drop Box"),
  entry("x", "X", ["little-bird"]),
];
const ids = (query: string): string[] => searchVendors(ENTRIES, query).map(({ vendor }) => vendor.id);

describe("searching vendors", () => {
  it("lists the whole name, then beginnings, then words, then parts; on before off", () => {
    expect(ids("box")).toEqual(["box", "boxed-on", "boxed-off", "drop-box", "notebox"]);
    expect(ids("oxe")).toEqual(["boxed-on", "boxed-off"]);
  });

  it("takes no notice of case, spaces, dashes and accents", () => {
    for (const query of ["DropBox", "drop box", " drop-box ", "Dröp Box"])
      expect(ids(query), query).toEqual(["drop-box"]);
  });

  it("finds a vendor by its alias", () => {
    expect(ids("little bird")).toEqual(["x"]);
    expect(ids("bird")).toEqual(["x"]);
  });

  it("finds nothing for what no vendor has, and all for nothing", () => {
    expect(ids("zzz")).toEqual([]);
    expect(ids(".*")).toHaveLength(ENTRIES.length);
    expect(ids("")).toHaveLength(ENTRIES.length);
  });

  it.each([
    ["stripe", "stripe-connect"],
    ["twitter", "x"],
    ["git lab", "gitlab"],
    ["Sales", "salesforce"],
    ["outlook", "microsoft"],
  ])("finds with %s the vendor %s", (query, id) => {
    expect(searchVendors(REGISTRY.values(), query)[0]?.vendor.id).toBe(id);
  });
});
