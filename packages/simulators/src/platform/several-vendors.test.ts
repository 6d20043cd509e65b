import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSandboxPlatform, type SandboxPlatform } from "../sandbox-platform.ts";
import { startFakeBroker, TOKENS, type FakeBroker } from "../testing/fake-broker.ts";
import { createPlatformVisitor, type PlatformVisitor } from "../testing/platform-visitor.ts";
import type { VendorOffer } from "./offer.ts";

const OFFERS: readonly VendorOffer[] = [
  { id: "sandbox", name: "Sandbox vendor", about: "The first", request: { scope: "openid api:read", prompt: "login" } },
  {
    id: "other",
    name: "Other vendor",
    about: "The second",
    request: { scope: "read", resource: "https://mcp.other.example" },
    placeholders: [
      { name: "tenant", label: "Tenant", value: "all", choices: [{ value: "all", label: "All" }] },
      { name: "place", label: "Place", value: "first" },
    ],
  },
];

let broker: FakeBroker;
let platform: SandboxPlatform;
let visitor: PlatformVisitor;

beforeEach(async () => {
  broker = await startFakeBroker();
  visitor = createPlatformVisitor(() => platform.url);
  platform = await startSandboxPlatform({
    brokerUrl: broker.url,
    clientId: "platform",
    clientSecret: "platform-secret",
    vendors: () => OFFERS,
  });
});
afterEach(() => Promise.all([broker.close(), platform.close()]));

/** The whole flow at this vendor; the fake broker sends the browser straight back. */
async function connectTo(vendor: string, typed: Readonly<Record<string, string>> = {}): Promise<string> {
  await visitor.press("/connect", { vendor }, typed);
  const state = broker.posted.findLast(({ path }) => path === "/v1/par")?.form.get("state") ?? "";
  const answer = new URLSearchParams({ state, ...broker.callbackMembers });
  await visitor.request(`/oauth/vendor-callback?${answer.toString()}`);
  return visitor.page();
}

describe("several vendors", () => {
  it("offers each by name, and pushes what it needs with the values that work", async () => {
    const shown = await visitor.page();
    for (const part of ["Connect Sandbox vendor", "Connect Other vendor", "The second", "Tenant"])
      expect(shown).toContain(part);
    await connectTo("other");
    const form = Object.fromEntries(broker.posted[0]?.form ?? []);
    expect(form).toMatchObject({ vendor: "other", scope: "read", resource: "https://mcp.other.example" });
    expect(JSON.parse(form["placeholders"] ?? "")).toEqual({ tenant: "all", place: "first" });
    await connectTo("sandbox");
    expect(broker.posted.at(-2)?.form.has("placeholders")).toBe(false);
    expect(broker.posted.at(-2)?.form.get("prompt")).toBe("login");
  });

  it("pushes what was typed, and what works where nothing was", async () => {
    await connectTo("other", { "placeholder.place": " second ", "placeholder.tenant": "" });
    const placeholders = broker.posted[0]?.form.get("placeholders") ?? "";
    expect(JSON.parse(placeholders)).toEqual({ tenant: "all", place: "second" });
  });

  it("keeps the tokens of both, shows the last and can show the other again", async () => {
    await connectTo("sandbox");
    broker.tokenAnswer = {
      status: 200,
      body: { ...TOKENS, access_token: "another-token", connection: "other-connection", vendor: "other" },
    };
    expect(await connectTo("other")).toContain("anothe…");
    expect(await visitor.page()).not.toContain("access…");
    expect(await visitor.press("/show", { vendor: "sandbox" })).toContain("access…");
    await visitor.press("/revoke", { vendor: "sandbox", token: "access_token" });
    expect(broker.posted.at(-1)?.form.get("connection")).toBe(TOKENS.connection);
    await visitor.press("/show", { vendor: "other" });
    await visitor.press("/refresh", { vendor: "other" });
    expect(broker.posted.at(-1)?.form.get("connection")).toBe("other-connection");
  });

  it("shows what else the vendor said", async () => {
    broker.tokenAnswer = { status: 200, body: { ...TOKENS, vendor_data: { team: { id: "<T1>" } } } };
    const shown = await connectTo("other");
    expect(shown).toContain("&lt;T1&gt;");
    expect(shown).not.toContain("<T1>");
  });

  it("begins nothing at a vendor it does not have", async () => {
    await visitor.press("/connect", {}, { vendor: "unknown" });
    expect(broker.posted).toEqual([]);
  });

  it("shows what a person can do where a vendor cannot revoke", async () => {
    await connectTo("other");
    broker.revocationAnswer = {
      status: 400,
      body: { error: "unsupported_token_type", error_description: "No way", help: "Open the settings there" },
    };
    const shown = await visitor.press("/revoke", { token: "access_token" });
    for (const part of ["unsupported_token_type", "Open the settings there"]) expect(shown).toContain(part);
    expect(shown).not.toContain(">revoked<");
  });
});
