/** The twins of this folder's attack tests: with one defence off, the attack succeeds. */
import { createEgress } from "@oauth-broker/oauth-core/egress";
import type * as Server from "@oauth-broker/oauth-core/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import type * as Addresses from "../../../../oauth-core/src/egress/address-ranges.ts";
import type * as Pkce from "../../../../oauth-core/src/protocol/pkce.ts";
import { recordingNetwork } from "../../../../oauth-core/src/testing/network/recording-network.ts";
import { ASK, openStubServerFixture } from "../../testing/server-fixture.ts";
import { createClientDocuments, documentEgress } from "../clients/metadata-document.ts";
import type * as ConsentPage from "./consent-page.ts";
import type * as Policy from "./policy.ts";

const off = vi.hoisted(() => new Set<string>());
afterEach(() => off.clear());

const EVIL = "https://evil.example/back";

vi.mock("@oauth-broker/oauth-core/server", async (original) => {
  const core = await original<typeof Server>();
  const begins = (uri: string, list: readonly string[]) =>
    list.some((one) => uri.startsWith(one.replace(/:\d+.*$/, "")));
  const verifyNativeRedirectUri: typeof core.verifyNativeRedirectUri = (uri, list) => {
    if (off.has("verifyNativeRedirectUri")) return core.verifyNativeRedirectUri(uri, [uri]);
    if (off.has("the host as a whole")) return core.verifyRedirectUri(uri, begins(uri, list) ? [uri] : list);
    return core.verifyNativeRedirectUri(uri, list);
  };
  const formOf = (form: string): string => (off.has("the form") ? "the form" : form);
  const formToken: typeof core.formToken = (form, cookie) => core.formToken(formOf(form), cookie);
  const isFormToken: typeof core.isFormToken = (token, form, cookie) =>
    off.has("isFormToken") || core.isFormToken(token, formOf(form), cookie);
  return { ...core, verifyNativeRedirectUri, formToken, isFormToken };
});
// The engine with a weakened policy or weakened records.
vi.mock("./policy.ts", async (original) => {
  const real = await original<typeof Policy>();
  const { createBrokeredCode } = await import("@oauth-broker/oauth-core/brokered-code");
  const createFlows: typeof Policy.createFlows = (deps) => {
    const { records } = deps;
    const reusable: typeof records = {
      ...records,
      advance: async (key, from, patch) => {
        if (patch.stage !== "spent") return records.advance(key, from, patch);
        const record = await records.get(key);
        return record === undefined ? { outcome: "absent" } : { outcome: "moved", record };
      },
    };
    const policy = { ...real.flowPolicy(deps), ...(off.has("bindsBrowser") ? { bindsBrowser: () => false } : {}) };
    const store = { records: off.has("spent") ? reusable : records, now: deps.now };
    return createBrokeredCode({ ...store, issuer: deps.settings.deploymentUrl }, policy);
  };
  return { ...real, createFlows };
});
vi.mock("../../../../oauth-core/src/protocol/pkce.ts", async (original) => {
  const real = await original<typeof Pkce>();
  const verifyCodeVerifier: typeof real.verifyCodeVerifier = (...args) =>
    off.has("verifyCodeVerifier") ? undefined : real.verifyCodeVerifier(...args);
  return { ...real, verifyCodeVerifier };
});
vi.mock("./consent-page.ts", async (original) => {
  const { consentPage } = await original<typeof ConsentPage>();
  const unfiltered: typeof consentPage = (page, headers) =>
    off.has("shown text") ? consentPage(page, headers, (text) => text) : consentPage(page, headers);
  return { consentPage: unfiltered };
});
vi.mock("../../../../oauth-core/src/egress/address-ranges.ts", async (original) => {
  const real = await original<typeof Addresses>();
  return { ...real, isPublicAddress: (address: string) => off.has("isPublicAddress") || real.isPublicAddress(address) };
});

const open = () => openStubServerFixture({ callback: { registration: { hosts: [] } } });

describe("with a defence off", () => {
  it("any URI gets an error, and in the end the code (twin of bar#AS-1)", async () => {
    off.add("verifyNativeRedirectUri");
    await using fixture = await open();
    expect((await fixture.browser().connect({ redirect_uri: EVIL })).href).toMatch(
      /^https:\/\/evil\.example\/back\?code=/,
    );
  });

  it("a client on localhost has its code sent to a host with that prefix (twin of rfc8252#8.3)", async () => {
    off.add("the host as a whole");
    await using fixture = await open();
    const parameters = { client_id: "native", redirect_uri: "http://localhost.evil.example/cb" };
    expect((await fixture.browser().connect(parameters)).href).toMatch(/^http:\/\/localhost\.evil\.example\/cb\?code=/);
  });

  it("a foreign page approves, and a malicious client has the code (twin of bar#AS-7)", async () => {
    off.add("isFormToken");
    await using fixture = await open();
    const { body } = await fixture.register({ redirect_uris: [EVIL], client_name: "Evil" });
    const victim = fixture.browser();
    await victim.authorize();
    const forged = { ...ASK, client_id: String(body["client_id"]), redirect_uri: EVIL, decision: "approve" };
    const answer = await victim.post("/authorize", forged);
    // The vendor knows this server and asks nothing.
    const callback = await victim.consent(new URL(answer.headers.get("location") ?? ""));
    expect((await victim.finish(callback)).href).toMatch(/^https:\/\/evil\.example\/back\?code=/);
  });

  it("an approval for one client is valid for another (twin of bar#AS-9)", async () => {
    off.add("the form");
    await using fixture = await open();
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const other = { client_id: "other", redirect_uri: "https://other.example/back", decision: "approve" };
    expect((await browser.post("/authorize", { ...fields, ...other })).headers.get("location")).toContain(
      fixture.stub.url,
    );
  });

  it("a victim finishes what an attacker approved (twin of bar#AS-8)", async () => {
    off.add("bindsBrowser");
    await using fixture = await open();
    const vendor = await fixture.browser().approve();
    const victim = fixture.browser();
    const back = await victim.finish(await victim.consent(vendor));
    const { status, body } = await fixture.redeem(back.searchParams.get("code"));
    expect(status).toBe(200);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });

  it("a code yields tokens as often as it is presented (twin of bar#AS-4)", async () => {
    off.add("spent");
    await using fixture = await open();
    const code = await fixture.codeOf();
    const answers = [await fixture.redeem(code), await fixture.redeem(code)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await fixture.authenticate(answers[0]?.body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });

  it("a stolen code needs no verifier (twin of bar#AS-3)", async () => {
    off.add("verifyCodeVerifier");
    await using fixture = await open();
    const stolen = await fixture.codeOf();
    expect((await fixture.redeem(stolen, { code_verifier: "w".repeat(43) })).status).toBe(200);
  });

  it("a name reverses the page's sentences (twin of bar#AS-10)", async () => {
    off.add("shown text");
    await using fixture = await open();
    const { body } = await fixture.register({ redirect_uris: [EVIL], client_name: "\u202eevil" });
    const page = await fixture.browser().ask({ client_id: String(body["client_id"]), redirect_uri: EVIL });
    expect(page.html).toContain("\u202e");
  });

  it("a client_id makes this server send requests inside its network (twin of bar#AS-13)", async () => {
    off.add("isPublicAddress");
    const network = recordingNetwork(new Map([["client.example.com", ["169.254.169.254"]]]));
    const settings = { egress: { allowLoopback: false, allowCidrs: [] }, deploymentUrl: "https://server.example" };
    const egress = createEgress(documentEgress(settings), network.deps);
    const documents = createClientDocuments({
      fetch: egress.fetchUntrusted,
      fetchPublic: egress.fetchUntrusted,
      hosts: ["client.example.com"],
      allowLoopback: false,
      now: () => 0,
    });
    await documents.find("https://client.example.com/id").catch(() => undefined);
    expect(network.sockets).toEqual(["169.254.169.254"]);
    await egress.close();
  });
});
