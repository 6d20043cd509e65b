import { defineVendor, type ResolvedVendor } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { connectionOf, requireConnection } from "./connection.ts";

const vendor: ResolvedVendor = {
  ...defineVendor({ id: "own", name: "Own" }),
  authorizationEndpoint: "https://vendor.example/authorize",
  tokenEndpoint: "https://vendor.example/token",
  issExpected: false,
};
const idToken = { raw: "", issuer: "https://vendor.example", subject: "user" };

describe("the connection of a direct client", () => {
  it("says who the tokens are of", () => {
    const connection = connectionOf(vendor, "deployment", idToken);
    expect(requireConnection(connection, vendor, "deployment")).toEqual({
      v: 1,
      vendor: "own",
      clientId: "deployment",
      hosts: ["vendor.example"],
      iss: "https://vendor.example",
      sub: "user",
    });
  });

  it("is of no other vendor or client", () => {
    const connection = connectionOf(vendor, "deployment", idToken);
    const invalid = expect.objectContaining({ code: "invalid_request" });
    expect(() => requireConnection(connection, { ...vendor, id: "other" }, "deployment")).toThrow(invalid);
    expect(() => requireConnection(connection, vendor, "other")).toThrow(invalid);
    for (const bad of ["", "x", Buffer.from("null").toString("base64url"), Buffer.from("{}").toString("base64url")]) {
      expect(() => requireConnection(bad, vendor, "deployment")).toThrow(invalid);
    }
  });

  it("bar#BY-4 keeps refresh tokens from a host that did not know them", () => {
    const connection = connectionOf(vendor, "deployment", undefined);
    const moved = expect.objectContaining({
      code: "invalid_grant",
      extras: expect.objectContaining({ reason: "connection_endpoint_changed" }),
    });
    const elsewhere = { ...vendor, tokenEndpoint: "https://moved.example/token" };
    expect(() => requireConnection(connection, elsewhere, "deployment")).toThrow(moved);
    const refreshed = { ...vendor, refreshEndpoint: "https://moved.example/refresh" };
    expect(() => requireConnection(connection, refreshed, "deployment")).toThrow(moved);
    const samePlace = { ...vendor, tokenEndpoint: "https://vendor.example/v2/token" };
    expect(requireConnection(connection, samePlace, "deployment").hosts).toEqual(["vendor.example"]);
  });
});
