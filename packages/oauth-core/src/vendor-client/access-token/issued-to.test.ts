import { expect, it } from "vitest";
import type { VendorCredentials } from "../../registry/vendor.ts";
import { isIssuedTo } from "./introspect.ts";

const ours: VendorCredentials = { id: "1", source: "environment", clientId: "ours" };

it.each<[string, readonly string[], VendorCredentials | undefined, boolean]>([
  ["our client alone", ["ours", "ours"], ours, true],
  ["another client", ["another"], ours, false],
  ["ours and another", ["ours", "another"], ours, false],
  ["no client (#11)", [], ours, false],
  ["no client, where none is expected", [], undefined, true],
  ["another client, where none is expected", ["another"], undefined, true],
])("a token that names %s", (_what, clients, credentials, isOurs) => {
  expect(isIssuedTo(clients, credentials)).toBe(isOurs);
});
