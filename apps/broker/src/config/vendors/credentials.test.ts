import { describe, expect, it } from "vitest";
import {
  load,
  MINIMAL,
  OWN_VENDOR as OWN,
  ownVendor,
  problemsOfOwnVendor as problemsOfOwn,
} from "../testing/config-file.ts";

describe("credentials", () => {
  it("are a list, the first in use, or one entry", () => {
    const list = [
      { id: "2026-11", client_id: "a", client_secret: "s1" },
      { client_id: "b", client_secret: "s2" },
    ];
    const credentials = ownVendor({ credentials: list })?.credentials ?? [];
    expect(
      credentials.map(({ id, source, clientId, clientSecret }) => [id, source, clientId, clientSecret?.reveal()]),
    ).toEqual([
      ["2026-11", "shared", "a", "s1"],
      ["b", "shared", "b", "s2"],
    ]);
    expect(ownVendor({ credentials: { client_id: "a", client_secret: "s" } })?.credentials).toMatchObject([
      { id: "a", clientId: "a" },
    ]);
    expect(JSON.stringify(credentials)).not.toContain("s1");
  });

  it.each([
    [{ credentials: { client_secret: "s" } }, "….credentials.client_id is missing"],
    [{ credentials: [] }, "….credentials must have at least one entry"],
    [{ credentials: { client_id: "a" } }, "….credentials[0].client_secret is missing"],
    [
      { credentials: { client_id: "a", client_secret: "s\n" } },
      "….credentials.client_secret must have at most 2048 characters, none of them a control character",
    ],
    [
      {
        credentials: [
          { id: "x", client_id: "a", client_secret: "s" },
          { client_id: "x", client_secret: "s" },
        ],
      },
      "….credentials has two entries with the same id",
    ],
    [
      { credentials: { client_id: "a", client_secret: "s", team_id: "T" } },
      "….credentials[0].team_id is not what this vendor takes",
    ],
    [
      { credentials: { client_id: "a", client_secret: "s", private_key: "k" } },
      "….credentials.private_key is not a private key in PEM, or is an encrypted one",
    ],
  ])("are refused: %j", (fields, problem) => {
    expect(problemsOfOwn(fields)).toEqual([problem]);
  });

  it("have no secret for a public client, and only there", () => {
    const credentials = ownVendor({ token_endpoint_auth_method: "none", credentials: { client_id: "a" } })?.credentials;
    expect(credentials).toEqual([{ id: "a", source: "shared", clientId: "a" }]);
    const vendors = {
      v: { ...OWN, token_endpoint_auth_method: "none", credentials: { client_id: "a", client_secret: "s" } },
    };
    expect(load({ ...MINIMAL, vendors }).warnings).toEqual([
      "Vendor v has a client secret that is never sent: its token_endpoint_auth_method is none",
    ]);
  });

  it("come from VENDOR_<ID>_… where the file has no credentials", () => {
    const env = { VENDOR_MY_VENDOR_CLIENT_ID: "a", VENDOR_MY_VENDOR_CLIENT_SECRET: "s" };
    const [credentials] = ownVendor({}, { env })?.credentials ?? [];
    expect(credentials).toMatchObject({ id: "environment", source: "environment", clientId: "a" });
    expect(credentials?.clientSecret?.reveal()).toBe("s");
    expect(ownVendor({ credentials: { client_id: "b", client_secret: "t" } }, { env })?.credentials).toMatchObject([
      { id: "b" },
    ]);
    expect(problemsOfOwn({}, { env: { VENDOR_MY_VENDOR_CLIENT_ID: "a" } })).toEqual([
      "VENDOR_MY_VENDOR_CLIENT_SECRET is not set",
    ]);
  });

  it("in the environment that reach no vendor are a warning", () => {
    const env = { VENDOR_NOBODY_CLIENT_ID: "a", VENDOR_V_CLIENT_SECRET: "s", VENDOR_V_CLIENT_ID: "", VENDOR_PATH: "x" };
    expect(load({ ...MINIMAL, vendors: { v: OWN } }, { env }).warnings).toEqual([
      "VENDOR_NOBODY_CLIENT_ID is set, but no vendor has that id",
      "VENDOR_V_CLIENT_SECRET is set without VENDOR_V_CLIENT_ID and is not used",
    ]);
  });
});
