import { describe, expect, it } from "vitest";
import {
  CLIENT,
  load,
  MINIMAL,
  OWN_VENDOR as OWN,
  ownVendor,
  problemsOfOwnVendor as problemsOfOwn,
  refusalOf,
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
      { credentials: { client_id: "a", client_secret: "s\nt" } },
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

  describe("from every source", () => {
    const ID = "VENDOR_MY_VENDOR_CLIENT_ID";
    const SECRET = "VENDOR_MY_VENDOR_CLIENT_SECRET";
    const referring = (reference: string) => ({
      ...MINIMAL,
      vendors: { "my-vendor": { ...OWN, credentials: { client_id: "id-x", client_secret: reference } } },
    });
    /** Of one secret: the credentials it gives by a variable of the vendor, `env:`, `file:` and in the file. */
    const sources = (secret: string): [source: string, ...Parameters<typeof load>][] => [
      ["variable", { ...MINIMAL, vendors: { "my-vendor": OWN } }, { env: { [ID]: "id-x", [SECRET]: secret } }],
      ["env:", referring("env:S"), { env: { S: secret } }],
      ["file:", referring("file:s"), { files: { s: secret } }],
      ["text", referring(secret), {}],
    ];

    it.each(["secret-x\n", "secret-x\r\n", "\uFEFFsecret-x", "\uFEFFsecret-x\n"])(
      "lose a byte order mark and final line ends: %j (h11)",
      (secret) => {
        for (const [source, ...given] of sources(secret)) {
          const [credentials] = load(...given).vendors.get("my-vendor")?.credentials ?? [];
          expect([source, credentials?.clientSecret?.reveal()]).toEqual([source, "secret-x"]);
        }
        const env = { [ID]: "\uFEFFid-x\n", [SECRET]: secret };
        const [credentials] =
          load({ ...MINIMAL, vendors: { "my-vendor": OWN } }, { env }).vendors.get("my-vendor")?.credentials ?? [];
        expect(credentials?.clientId).toBe("id-x");
      },
    );

    it.each([" secret-x", "secret-x ", "secret-x\t\n", '"secret-x"', "'secret-x'", "sec\nret-x", "sec\0ret-x"])(
      "are refused by name, and not repeated: %j (h11)",
      (secret) => {
        for (const [source, ...given] of sources(secret)) {
          const text = refusalOf(() => load(...given)).message;
          const name = source === "variable" ? SECRET : "vendors.my-vendor.credentials.client_secret";
          expect(text).toContain(`1 problem`);
          expect(text).toMatch(new RegExp(`${name} must (not begin or end with|have at most)`));
          expect(text).not.toContain("ret-x");
        }
        const env = { [ID]: secret, [SECRET]: "good" };
        const text = refusalOf(() => load({ ...MINIMAL, vendors: { "my-vendor": OWN } }, { env })).message;
        expect(text).toMatch(new RegExp(`1 problem[^]*${ID} must`));
      },
    );

    it("hold for clients' secrets and initial access tokens, too", () => {
      const [client] = [{ ...CLIENT, client_secret: " x".repeat(20) }];
      expect(refusalOf(() => load({ ...MINIMAL, clients: [client] })).message).toContain(
        "client_secret must not begin",
      );
      expect(problemsOfOwn({ initial_access_token: "'iat'" })).toEqual([
        "….initial_access_token must not begin or end with a quotation mark",
      ]);
      expect(ownVendor({ initial_access_token: "iat\n" })?.initialAccessToken?.reveal()).toBe("iat");
    });
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

  it("in the environment that are misspelt are a warning; another program's variables are none", () => {
    const env = {
      VENDOR_V_CLINET_ID: "a",
      vendor_v_client_secret: "b",
      BROKER_CONFGI: "c",
      VENDOR_LIST_FILE: "d",
    };
    expect(load({ ...MINIMAL, vendors: { v: OWN } }, { env }).warnings).toEqual([
      "VENDOR_V_CLINET_ID is set, and not known here: did you mean VENDOR_V_CLIENT_ID?",
      "vendor_v_client_secret is set, and not known here: did you mean VENDOR_V_CLIENT_SECRET?",
      "BROKER_CONFGI is set, and not known here: did you mean BROKER_CONFIG?",
    ]);
  });

  it("in the environment that reach no vendor are a warning", () => {
    const env = { VENDOR_NOBODY_CLIENT_ID: "a", VENDOR_V_CLIENT_SECRET: "s", VENDOR_V_CLIENT_ID: "", VENDOR_PATH: "x" };
    expect(load({ ...MINIMAL, vendors: { v: OWN } }, { env }).warnings).toEqual([
      "VENDOR_NOBODY_CLIENT_ID is set, but no vendor has that id",
      "VENDOR_V_CLIENT_SECRET is set without VENDOR_V_CLIENT_ID and is not used",
    ]);
    const inFile = { v: { ...OWN, credentials: { client_id: "b", client_secret: "t" } } };
    const warningsWith = (id: string) =>
      load({ ...MINIMAL, vendors: inFile }, { env: { VENDOR_V_CLIENT_ID: id } }).warnings;
    expect(warningsWith("a")).toEqual([
      "VENDOR_V_CLIENT_ID is set and not used: the file has credentials of this vendor",
    ]);
    expect(warningsWith("b")).toEqual([]);
  });
});
