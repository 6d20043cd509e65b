import { describe, expect, it } from "vitest";
import type { Session } from "../session.ts";
import { RESOLVED } from "../testing/direct-client.ts";
import { REDIRECT_URI } from "../testing/fake-broker.ts";
import { readVendorCallback } from "./finish.ts";

const vendor = { ...RESOLVED, issuer: "https://vendor.example" };
const session: Session = {
  v: 1,
  context: "context",
  clientId: "deployment",
  redirectUri: REDIRECT_URI,
  state: "state",
  expiresAt: 0,
};

function read(parameters: Record<string, string>) {
  const query = new URLSearchParams({ state: "state", ...parameters });
  return readVendorCallback(`${session.redirectUri}?${query.toString()}`, session, vendor);
}

describe("bar#CB-11 a callback is one code or one error", () => {
  it.each([
    ["both", { code: "c", error: "access_denied" }],
    ["a code and an access token", { code: "c", access_token: "smuggled" }],
    ["a code and an ID token", { code: "c", id_token: "smuggled" }],
    ["an error and an access token", { error: "access_denied", access_token: "smuggled" }],
    ["a code without end", { code: "c".repeat(4097) }],
  ])("and %s is refused", (_what, parameters) => {
    const refused = expect.objectContaining({ code: "invalid_callback", details: { reason: "malformed" } });
    expect(() => read(parameters as Record<string, string>)).toThrow(refused);
  });

  it("and neither is the vendor's error, with its error_code where it has one (h23)", () => {
    for (const sent of [{ error_code: "1349003", error_message: "x" }, {}, { code: "" }] as Record<string, string>[]) {
      expect(() => read(sent)).toThrow(expect.objectContaining({ code: "server_error" }));
    }
  });

  it("with the issuer of this vendor, where it names one", () => {
    expect(read({ code: "c", iss: "https://vendor.example" })).toEqual({
      code: "c",
      iss: "https://vendor.example",
      callbackData: {},
    });
    expect(() => read({ code: "c", iss: "https://evil.example" })).toThrow(
      expect.objectContaining({ code: "invalid_callback" }),
    );
  });
});
