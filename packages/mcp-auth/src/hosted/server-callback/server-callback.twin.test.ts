/** The twins of this folder's attack tests: with one defence off, the attack succeeds. */
import type { RecordStore } from "@oauth-broker/oauth-core";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import * as server from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import * as addresses from "../../../../oauth-core/src/egress/address-ranges.ts";
import * as pkce from "../../../../oauth-core/src/protocol/pkce.ts";
import { recordingNetwork } from "../../../../oauth-core/src/testing/network/recording-network.ts";
import * as texts from "../../presentation/shown-text.ts";
import { ASK, openStubServerFixture } from "../../testing/server-fixture.ts";
import { createClientDocuments, documentEgress } from "../clients/metadata-document.ts";
import * as policies from "./policy.ts";

const EVIL = "https://evil.example/back";

/** Flows whose codes are never spent. */
const reusable = (records: RecordStore): RecordStore => ({
  ...records,
  advance: async (key, from, patch) => {
    if (patch.stage !== "spent") return records.advance(key, from, patch);
    const record = await records.get(key);
    return record === undefined ? { outcome: "absent" } : { outcome: "moved", record };
  },
});
const open = () => openStubServerFixture({ callback: { registration: { hosts: [] } } });

describe("with a defence off", () => {
  it("any URI gets an error, and in the end the code (twin of bar#AS-1)", async () => {
    weaken(server, (real) => ({ verifyNativeRedirectUri: (uri) => real.verifyNativeRedirectUri(uri, [uri]) }));
    await using fixture = await open();
    expect((await fixture.browser().connect({ redirect_uri: EVIL })).href).toMatch(
      /^https:\/\/evil\.example\/back\?code=/,
    );
  });

  it("a client on localhost has its code sent to a host with that prefix (twin of rfc8252#8.3)", async () => {
    weaken(server, ({ verifyRedirectUri }) => ({
      verifyNativeRedirectUri: (uri, list) => {
        const isAlike = list.some((one) => uri.startsWith(one.replace(/:\d+.*$/, "")));
        return verifyRedirectUri(uri, isAlike ? [uri] : list);
      },
    }));
    await using fixture = await open();
    const parameters = { client_id: "native", redirect_uri: "http://localhost.evil.example/cb" };
    expect((await fixture.browser().connect(parameters)).href).toMatch(/^http:\/\/localhost\.evil\.example\/cb\?code=/);
  });

  it("a foreign page approves, and a malicious client has the code (twin of bar#AS-7)", async () => {
    weaken(server, () => ({ isFormToken: () => true }));
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
    weaken(server, ({ formToken, isFormToken }) => ({
      formToken: (_, cookie) => formToken("the form", cookie),
      isFormToken: (token, _, cookie) => isFormToken(token, "the form", cookie),
    }));
    await using fixture = await open();
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const other = { client_id: "other", redirect_uri: "https://other.example/back", decision: "approve" };
    expect((await browser.post("/authorize", { ...fields, ...other })).headers.get("location")).toContain(
      fixture.stub.url,
    );
  });

  it("a victim finishes what an attacker approved (twin of bar#AS-8)", async () => {
    weaken(policies, ({ flowPolicy }) => ({
      flowPolicy: (deps) => ({ ...flowPolicy(deps), bindsBrowser: () => false }),
    }));
    await using fixture = await open();
    const vendor = await fixture.browser().approve();
    const victim = fixture.browser();
    const back = await victim.finish(await victim.consent(vendor));
    const { status, body } = await fixture.redeem(back.searchParams.get("code"));
    expect(status).toBe(200);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });

  it("a code yields tokens as often as it is presented (twin of bar#AS-4)", async () => {
    weaken(policies, ({ createFlows }) => ({
      createFlows: (deps) => createFlows({ ...deps, records: reusable(deps.records) }),
    }));
    await using fixture = await open();
    const code = await fixture.codeOf();
    const answers = [await fixture.redeem(code), await fixture.redeem(code)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await fixture.authenticate(answers[0]?.body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });

  it("a stolen code needs no verifier (twin of bar#AS-3)", async () => {
    weaken(pkce, () => ({ verifyCodeVerifier: () => {} }));
    await using fixture = await open();
    const stolen = await fixture.codeOf();
    expect((await fixture.redeem(stolen, { code_verifier: "w".repeat(43) })).status).toBe(200);
  });

  it("a name reverses the page's sentences (twin of bar#AS-10)", async () => {
    weaken(texts, () => ({ shownText: (text) => text }));
    await using fixture = await open();
    const { body } = await fixture.register({ redirect_uris: [EVIL], client_name: "\u202eevil" });
    const page = await fixture.browser().ask({ client_id: String(body["client_id"]), redirect_uri: EVIL });
    expect(page.html).toContain("\u202e");
  });

  it("a client_id makes this server send requests inside its network (twin of bar#AS-13)", async () => {
    weaken(addresses, () => ({ isPublicAddress: () => true }));
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
