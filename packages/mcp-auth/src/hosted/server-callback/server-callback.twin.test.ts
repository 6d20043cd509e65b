/** The twins of this folder's attack tests: with one defence off, the attack succeeds. */
import type { RecordStore } from "@oauth-broker/oauth-core";
import type * as Protocol from "@oauth-broker/oauth-core/protocol";
import type * as Server from "@oauth-broker/oauth-core/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as Addresses from "../../../../oauth-core/src/egress/addresses.ts";
import type * as ConsentPage from "./consent-page.ts";
import type * as Policy from "./policy.ts";
import type { flowPolicy } from "./policy.ts";

const CORE = "@oauth-broker/oauth-core";
const ADDRESSES = "../../../../oauth-core/src/egress/addresses.ts";
const PKCE = "../../../../oauth-core/src/protocol/pkce.ts";
const EVIL = "https://evil.example/back";

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  for (const path of [`${CORE}/protocol`, `${CORE}/server`, ADDRESSES, PKCE, "./policy.ts", "./consent-page.ts"])
    vi.doUnmock(path);
});

/** The engine with a weakened policy or weakened records. */
function weaken(change: {
  readonly policy?: Partial<ReturnType<typeof flowPolicy>>;
  readonly records?: (real: RecordStore) => RecordStore;
}): void {
  vi.doMock("./policy.ts", async (original) => {
    const real = await original<typeof Policy>();
    const { createBrokeredCode } = await import("@oauth-broker/oauth-core/brokered-code");
    const createFlows: typeof Policy.createFlows = (deps) => {
      const records = change.records?.(deps.records) ?? deps.records;
      const issuer = deps.settings.deploymentUrl;
      return createBrokeredCode({ records, now: deps.now, issuer }, { ...real.flowPolicy(deps), ...change.policy });
    };
    return { ...real, createFlows };
  });
}

async function open() {
  const { openStubServerFixture } = await import("../../testing/server-fixture.ts");
  return openStubServerFixture({ callback: { registration: { hosts: [] } } });
}

describe("with a defence off", () => {
  it("any URI gets an error, and in the end the code (twin of bar#AS-1)", async () => {
    vi.doMock("@oauth-broker/oauth-core/protocol", async (original) => {
      const core = await original<typeof Protocol>();
      return { ...core, verifyNativeRedirectUri: (uri: string) => core.verifyNativeRedirectUri(uri, [uri]) };
    });
    const fixture = await open();
    expect((await fixture.browser().connect({ redirect_uri: EVIL })).href).toMatch(
      /^https:\/\/evil\.example\/back\?code=/,
    );
    await fixture.close();
  });

  it("a client on localhost has its code sent to a host with that prefix (twin of rfc8252#8.3)", async () => {
    vi.doMock("@oauth-broker/oauth-core/protocol", async (original) => {
      const core = await original<typeof Protocol>();
      const begins = (uri: string, list: readonly string[]) =>
        list.some((one) => uri.startsWith(one.replace(/:\d+.*$/, "")));
      return {
        ...core,
        verifyNativeRedirectUri: (uri: string, list: readonly string[]) =>
          core.verifyRedirectUri(uri, begins(uri, list) ? [uri] : list),
      };
    });
    const fixture = await open();
    const parameters = { client_id: "native", redirect_uri: "http://localhost.evil.example/cb" };
    expect((await fixture.browser().connect(parameters)).href).toMatch(/^http:\/\/localhost\.evil\.example\/cb\?code=/);
    await fixture.close();
  });

  it("a foreign page approves, and a malicious client has the code (twin of bar#AS-7)", async () => {
    vi.doMock("@oauth-broker/oauth-core/server", async (original) => ({
      ...(await original<typeof Server>()),
      isFormToken: () => true,
    }));
    const fixture = await open();
    const { ASK } = await import("../../testing/server-fixture.ts");
    const { body } = await fixture.register({ redirect_uris: [EVIL], client_name: "Evil" });
    const victim = fixture.browser();
    await victim.authorize();
    const forged = { ...ASK, client_id: String(body["client_id"]), redirect_uri: EVIL, decision: "approve" };
    const answer = await victim.post("/authorize", forged);
    // The vendor knows this server and asks nothing.
    const callback = await victim.consent(new URL(answer.headers.get("location") ?? ""));
    expect((await victim.finish(callback)).href).toMatch(/^https:\/\/evil\.example\/back\?code=/);
    await fixture.close();
  });

  it("an approval for one client is valid for another (twin of bar#AS-9)", async () => {
    vi.doMock("@oauth-broker/oauth-core/server", async (original) => {
      const core = await original<typeof Server>();
      const formToken: typeof core.formToken = (_form, cookie) => core.formToken("the form", cookie);
      const isFormToken: typeof core.isFormToken = (token, _form, cookie) =>
        core.isFormToken(token, "the form", cookie);
      return { ...core, formToken, isFormToken };
    });
    const fixture = await open();
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const other = { client_id: "other", redirect_uri: "https://other.example/back", decision: "approve" };
    expect((await browser.post("/authorize", { ...fields, ...other })).headers.get("location")).toContain(
      fixture.stub.url,
    );
    await fixture.close();
  });

  it("a victim finishes what an attacker approved (twin of bar#AS-8)", async () => {
    weaken({ policy: { bindsBrowser: () => false } });
    const fixture = await open();
    const vendor = await fixture.browser().approve();
    const victim = fixture.browser();
    const back = await victim.finish(await victim.consent(vendor));
    const { status, body } = await fixture.redeem(back.searchParams.get("code") ?? "");
    expect(status).toBe(200);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ user: "user" });
    await fixture.close();
  });

  it("a code yields tokens as often as it is presented (twin of bar#AS-4)", async () => {
    weaken({
      records: (real) => ({
        ...real,
        advance: async (key, from, patch) => {
          if (patch.stage !== "spent") return real.advance(key, from, patch);
          const record = await real.get(key);
          return record === undefined ? { outcome: "absent" } : { outcome: "moved", record };
        },
      }),
    });
    const fixture = await open();
    const code = (await fixture.browser().connect()).searchParams.get("code") ?? "";
    const answers = [await fixture.redeem(code), await fixture.redeem(code)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await fixture.authenticate(answers[0]?.body["access_token"] ?? "")).toMatchObject({ user: "user" });
    await fixture.close();
  });

  it("a stolen code needs no verifier (twin of bar#AS-3)", async () => {
    vi.doMock(PKCE, async (original) => ({
      ...(await original<object>()),
      verifyCodeVerifier: () => {},
    }));
    const fixture = await open();
    const stolen = (await fixture.browser().connect()).searchParams.get("code") ?? "";
    expect((await fixture.redeem(stolen, { code_verifier: "w".repeat(43) })).status).toBe(200);
    await fixture.close();
  });

  it("a name reverses the page's sentences (twin of bar#AS-10)", async () => {
    vi.doMock("./consent-page.ts", async (original) => {
      const { consentPage } = await original<typeof ConsentPage>();
      const unfiltered: typeof consentPage = (page, headers) => consentPage(page, headers, (text) => text);
      return { consentPage: unfiltered };
    });
    const fixture = await open();
    const { body } = await fixture.register({ redirect_uris: [EVIL], client_name: "\u202eevil" });
    const page = await fixture.browser().ask({ client_id: String(body["client_id"]), redirect_uri: EVIL });
    expect(page.html).toContain("\u202e");
    await fixture.close();
  });

  it("a client_id makes this server send requests inside its network (twin of bar#AS-13)", async () => {
    vi.doMock(ADDRESSES, async (original) => ({
      ...(await original<typeof Addresses>()),
      isPublicAddress: () => true,
    }));
    const { createEgress } = await import("@oauth-broker/oauth-core/egress");
    const { createClientDocuments, documentEgress } = await import("../clients/metadata-document.ts");
    const { recordingNetwork } = await import("../../../../oauth-core/src/testing/network/recording-network.ts");
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
