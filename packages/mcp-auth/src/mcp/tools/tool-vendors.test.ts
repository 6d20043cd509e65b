import { Secret, systemClock } from "@oauth-broker/oauth-core";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { createLog } from "@oauth-broker/service";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "../../app.ts";
import { loadSettings } from "../../config.ts";
import type { ServerDefinition } from "../../server.ts";
import type { HostedVendorSettings, Settings } from "../../settings.ts";
import { PRE_REGISTERED, refusalOf, SERVER } from "../../testing/environments.ts";
import { linkingSettings } from "../../testing/hosted-settings.ts";
import { SIGN_IN_VENDOR, type Tool } from "../../tool.ts";
import { requireKnownVendors, scopeMeanings, toolWarnings, vendorsOf } from "./tool-vendors.ts";
import { severalVendors } from "../../hosted/link-policy/link-policy.ts";
import { testTool } from "../../testing/test-tool.ts";

const vendor = (
  id: string,
  scopes: readonly string[],
  meanings: Readonly<Record<string, string>> = {},
): HostedVendorSettings => ({
  vendor: defineVendor({ id, name: id, scopeMeanings: meanings }),
  credentials: { id, source: "environment", clientId: id, clientSecret: new Secret("s") },
  scopes,
  apiHosts: [],
});
const plain = loadSettings(PRE_REGISTERED);
const hosted = loadSettings(SERVER);
const severalOf = (...given: readonly HostedVendorSettings[]): Settings => {
  const vendors = new Map(given.map((one) => [one.vendor.id, one]));
  return { ...hosted, links: severalVendors(linkingSettings({ signIn: "github", vendors })) } as Settings;
};
const several = severalOf(vendor("github", ["repo"]), vendor("my-crm", ["read", "write"]));

/** The problems of the tools, in order. */
const problems = (tools: readonly Tool[], settings: Settings): readonly string[] =>
  refusalOf(() => requireKnownVendors(tools, settings)).problems.map(({ path, problem }) => `${path} ${problem}`);

describe("with several vendors", () => {
  it("tools may name each of them with its own scopes, in both forms, or none", () => {
    const tools = [
      testTool("none"),
      testTool("empty", { vendors: {}, scopes: undefined as never }),
      testTool("one", { vendor: "my-crm", scopes: ["read"] }),
      testTool("me", { vendor: SIGN_IN_VENDOR, scopes: [] }),
      testTool("both", { vendors: { github: { scopes: ["repo"] }, "my-crm": { scopes: ["read", "write"] } } }),
    ];
    expect(() => requireKnownVendors(tools, several)).not.toThrow();
  });

  it("refuses all tools that can never run, at once and by name", () => {
    const tools = [
      testTool("a", { vendor: "slack", scopes: [] }),
      testTool("b", {
        vendors: { slack: { scopes: ["chat:write"] }, "my-crm": { scopes: ["read", "admin", "root"] } },
      }),
      testTool("c", { vendor: "github" }),
      testTool("d", { scopes: ["repo"] }),
      testTool("e", { vendors: { github: { scopes: [] } }, vendor: "github" }),
      testTool("f", { vendors: { github: { scopes: [] } }, scopes: [] }),
      testTool("g", { vendors: { github: { scopes: [] }, [SIGN_IN_VENDOR]: { scopes: [] } } }),
      testTool("fine", { vendor: "github", scopes: ["repo"] }),
    ];
    expect(problems(tools, several)).toEqual([
      "tool a names the vendor slack, which is not in VENDORS",
      "tool b names the vendor slack, which is not in VENDORS",
      "tool b needs the scope admin, which is not in VENDOR_MY_CRM_SCOPES",
      "tool b needs the scope root, which is not in VENDOR_MY_CRM_SCOPES",
      "tool c names the vendor github without `scopes`; [] says none",
      "tool d names scopes and not their vendor",
      "tool e has `vendors`, so it cannot have `vendor` or `scopes` beside it",
      "tool f has `vendors`, so it cannot have `vendor` or `scopes` beside it",
      "tool g names github twice, once as the vendor that signs users in",
    ]);
  });
});

describe.each([
  ["pre-registered", plain],
  ["hosted", hosted],
])("with one vendor, %s", (_, settings) => {
  it("tools may name that one, with or without scopes, or none", () => {
    const tools = [
      testTool("none", { scopes: ["anything"] }),
      testTool("one", { vendor: "my-vendor" }),
      testTool("me", { vendor: SIGN_IN_VENDOR, scopes: ["read"] }),
      testTool("long", { vendors: { "my-vendor": { scopes: ["read"] } } }),
    ];
    expect(() => requireKnownVendors(tools, settings)).not.toThrow();
  });

  it("refuses tools that name another", () => {
    const tools = [
      testTool("a", { vendor: "slack", scopes: [] }),
      testTool("b", { vendors: { slack: { scopes: [] }, "my-vendor": { scopes: [] } } }),
    ];
    expect(problems(tools, settings)).toEqual([
      "tool a names the vendor slack, and VENDOR is my-vendor",
      "tool b names the vendor slack, and VENDOR is my-vendor",
    ]);
  });
});

it.each<[string, Partial<ServerDefinition>, RegExp]>([
  [
    "a vendor it does not have",
    { tools: [testTool("a", { vendor: "slack", scopes: [] })] },
    /^The server cannot start: 1 problem in its tools\n\n {2}tool a names the vendor slack, and VENDOR is my-vendor\n/,
  ],
  ["two tools of one name", { tools: [testTool("a"), testTool("a")] }, /^Tool a is already registered$/],
  [
    "an input that is no JSON",
    { tools: [testTool("when", { input: z.object({ at: z.date() }) })] },
    /^tool when: its input cannot be shown as JSON Schema: Date cannot/,
  ],
  [
    "an output that is no JSON",
    { tools: [testTool("when", { outputSchema: z.object({ at: z.date() }) })] },
    /^tool when: its outputSchema cannot be shown as JSON Schema: Date cannot/,
  ],
  [
    "scopes in one text",
    {
      tools: [testTool("a", { scopes: ["read write"] }), testTool("b", { vendors: { "my-vendor": { scopes: [""] } } })],
    },
    /\n {2}tool a has the scope "read write", which is not one scope\n[^]*\n {2}tool b has the scope "", /,
  ],
  [
    "tools that a compiler would refuse",
    {
      tools: [
        testTool("a", { input: undefined as never, run: "later" as never }),
        testTool("b", { input: z.string() as never, scopes: "read" as never }),
        testTool("c", { vendors: { "my-vendor": { scopes: "read" as never } } }),
        testTool("d", { input: { type: "object", properties: {} } as never, outputSchema: z.string() as never }),
        testTool("e", { description: 5 as never, annotations: { readOnlyHint: "yes" as never } }),
        undefined as never,
      ],
    },
    /a needs an `input`[^]*a needs `run`[^]*b needs an `input`[^]*b has `scopes` that are no list[^]*c has `scopes` that[^]*d needs an `input`[^]*d has an `outputSchema`[^]*e has a wrong `description`: [^]*e has a wrong `annotations.readOnlyHint`: [^]*\n {2}tools\[5\] is no tool\n/,
  ],
  ["tools by name", { tools: { a: testTool("a") } as never }, /\n {2}tools must be a list: /],
  [
    "a configure that throws",
    {
      configure: () => {
        throw new Error("the file is missing");
      },
    },
    /^the file is missing$/,
  ],
])("the app does not start with %s, which would fail every request", (_, definition, message) => {
  const log = createLog({ write: () => undefined });
  const start = () =>
    createApp({ name: "test", version: "1", tools: [], ...definition }, plain, {
      now: systemClock,
      log,
      storage: undefined,
    });
  expect(start).toThrow(message);
});

it("warns of a tool whose scope no client can ask for", () => {
  const tools = [
    testTool("fine", { scopes: ["read"] }),
    testTool("none"),
    testTool("gist", { scopes: ["gist", "read"] }),
    testTool("named", { vendors: { "my-vendor": { scopes: ["gist"] } } }),
  ];
  const one = { ...hosted, vendor: { ...hosted.vendor, scopes: ["read"] } } as Settings;
  const why = "needs the scope gist, which is not in VENDOR_SCOPES: no client can ask for it";
  expect(toolWarnings(tools, one)).toEqual([`tool gist ${why}`, `tool named ${why}`]);
  expect(toolWarnings(tools, plain)).toEqual([]);
  expect(toolWarnings(tools, several)).toEqual([]);
});

it("warns in every mode of a name that clients refuse", () => {
  const tools = [testTool("fine_1.a-b"), testTool("my tool"), testTool(""), testTool("x".repeat(129))];
  const why = "which clients may refuse: at most 128 letters, digits, _, - and .";
  const warnings = ["my tool", "", "x".repeat(129)].map((name) => `tool ${name} has a name ${why}`);
  for (const settings of [plain, several]) expect(toolWarnings(tools, settings)).toEqual(warnings);
});

it("a tool says what a scope means before the vendor's entry does, and the first tool before others", () => {
  const said = scopeMeanings(
    [
      testTool("one", { vendors: { github: { scopes: ["repo"], scopeMeanings: { repo: "Read the code" } } } }),
      testTool("other", { vendor: "github", scopes: ["repo"], scopeMeanings: { repo: "Another", gist: "Read gists" } }),
    ],
    severalOf(
      vendor("github", ["repo"], { repo: "Read and change repositories", user: "Read your profile" }),
      vendor("my-crm", ["read"], { read: "Read customers" }),
    ),
  );
  expect(said.get("github")).toEqual(
    new Map([
      ["repo", { sentence: "Read the code" }],
      ["gist", { sentence: "Read gists" }],
      ["user", { sentence: "Read your profile", language: "en" }],
    ]),
  );
  expect(said.get("my-crm")).toEqual(new Map([["read", { sentence: "Read customers", language: "en" }]]));
  const ofOne = { ...plain, vendor: vendor("crm", ["read"], { read: "Read customers" }) };
  expect(scopeMeanings([], ofOne).get("crm")?.get("read")?.sentence).toBe("Read customers");
});

it("the vendor that signs users in is known by its id", () => {
  expect(vendorsOf(testTool("me", { vendor: SIGN_IN_VENDOR, scopes: [] }), "github")).toEqual([
    { name: "sign_in", id: "github", scopes: [] },
  ]);
});

describe("beside an environment that is wrong", () => {
  const environment = { ...SERVER, VENDOR: undefined, VENDORS: "github,my-crm", VENDOR_GITHUB_SCOPES: "repo" };
  const listed = (tools: readonly Tool[], more = {}): readonly string[] =>
    refusalOf(() => loadSettings({ ...environment, ...more }, tools)).problems.map(({ path }) => path);

  it("a tool that names an unlisted vendor is in the same list", () => {
    const slack = testTool("post", { vendor: "slack", scopes: ["chat:write"] });
    const me = testTool("me", { vendor: SIGN_IN_VENDOR, scopes: ["whatever"] });
    const paths = listed([slack, me]);
    expect(paths).toContain("VENDOR_GITHUB_CLIENT_ID");
    expect(paths.filter((path) => path.startsWith("tool "))).toEqual(["tool post"]);
  });

  it("no tool is blamed for a SIGN_IN that is not listed", () => {
    const paths = listed([testTool("me", { vendor: SIGN_IN_VENDOR, scopes: [] })], { SIGN_IN: "linear" });
    expect(paths).toContain("SIGN_IN");
    expect(paths.filter((path) => path.startsWith("tool "))).toEqual([]);
  });

  it("no tool is blamed where no vendor is listed", () => {
    for (const VENDORS of ["", " ", ",", undefined])
      expect(
        listed([testTool("post", { vendor: "slack", scopes: [] })], { VENDORS }).filter((path) =>
          path.startsWith("tool "),
        ),
      ).toEqual([]);
  });
});
