import { describe, expect, it } from "vitest";
import { RESOLVED as vendor } from "../testing/direct-client.ts";
import { connectionOf, firstSubject, requireConnection } from "./connection.ts";

const idToken = { raw: "", issuer: "https://vendor.example", subject: "user" };

describe("the connection of a direct client", () => {
  it("names the vendor, client and user of the tokens", () => {
    const connection = connectionOf(vendor, "deployment", idToken);
    expect(requireConnection(connection, vendor, "deployment")).toEqual({
      v: 2,
      vendor: "own",
      clientId: "deployment",
      hosts: ["vendor.example"],
      checkHosts: [],
      iss: idToken.issuer,
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

  it("names the user of the first ID token, if any", () => {
    const { issuer, subject } = idToken;
    expect(firstSubject({ iss: issuer, sub: subject })).toEqual({ issuer, subject });
    expect(firstSubject({})).toBeUndefined();
  });
});
