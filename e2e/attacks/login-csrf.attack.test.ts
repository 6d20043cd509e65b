/**
 * Attacker: an outsider with a browser and a way to make the victim open a link. Goal: the
 * attacker's own vendor account in the victim's session, so that the victim works in it and stores
 * data there. Defence: the callback continues only in the browser that left for the vendor, which
 * it recognizes by a cookie per flow (readBindingCookie).
 */
import { ownerOf } from "@oauth-broker/simulators";
import * as browserBindingModule from "../../packages/oauth-core/src/authorization-server/browser-binding.ts";
import { describe, expect, it } from "vitest";
import { expectRefusalPage, without, withoutBindingCookie } from "./support/outcomes.ts";
import {
  atCallback,
  awayFromBroker,
  createBrowser,
  openScene,
  parameter,
  recordOf,
  type Scene,
  withParameters,
} from "./support/actors.ts";
import { BASE_URL, CALLBACK } from "./support/names.ts";

/**
 * The attacker's own flow up to the vendor's answer, which the attacker keeps instead of opening
 * it.
 */
async function attackersAnswer({ backend, attacker }: Scene) {
  const { flow, url: link } = await backend.start(attacker, atCallback);
  return { flow, link };
}

describe("X-6 the attacker's answer is opened in the victim's browser", () => {
  it("bar#XA-6 bar#CB-7 X-6 is refused, and the attacker's flow is left as it was", async () => {
    const harness = await openScene();
    const { flow, link } = await attackersAnswer(harness);
    const { page } = await harness.victim.visit(link);
    expectRefusalPage(page, "browser_mismatch", [parameter(link, "code"), parameter(link, "state")]);
    expect((await recordOf(harness.fixture, flow))?.stage).toBe("started");
    expect((await harness.attacker.visit(link)).page).toBeUndefined();
  });

  it("bar#XA-6 X-6 is refused beside the victim's own flow, which still finishes", async () => {
    const harness = await openScene();
    const { backend } = harness;
    const { flow: own, url } = await backend.start(harness.victim, atCallback);
    const { link } = await attackersAnswer(harness);
    expectRefusalPage((await harness.victim.visit(link)).page, "browser_mismatch");

    const back = await harness.victim.visit(url);
    const { body } = await backend.redeem(parameter(back.url, "code"), own.codeVerifier);
    expect(ownerOf(body["access_token"])).toBe("victim");
  });

  it("bar#XA-6 X-6 with the attacker's code in the victim's state fails at PKCE", async () => {
    const harness = await openScene();
    const { backend } = harness;
    const { flow: own, url } = await backend.start(harness.victim, atCallback);
    const { link } = await attackersAnswer(harness);
    const back = await harness.victim.visit(withParameters(url.href, { code: parameter(link, "code") }));
    const { body } = await backend.redeem(parameter(back.url, "code"), own.codeVerifier);
    expect(body).toMatchObject({ error: "invalid_grant" });
  });

  it("X-6 twin: without readBindingCookie the victim gets the attacker's account", async () => {
    const harness = await openScene();
    withoutBindingCookie();
    const { flow, link } = await attackersAnswer(harness);
    const { url } = await harness.victim.visit(link);
    const { body } = await harness.backend.redeem(parameter(url, "code"), flow.codeVerifier);
    expect(ownerOf(body["access_token"])).toBe("attacker");
  });
});

describe("bar#CB-7 what counts as the same browser", () => {
  it("is this flow's cookie with its exact value; similar ones burn nothing", async () => {
    const harness = await openScene();
    const { flow, link } = await attackersAnswer(harness);
    const name = `__Host-flow-${flow.flowId}`;
    const value = harness.attacker.jar.get(new URL(CALLBACK), name) ?? "";
    const wrong = [
      undefined,
      "",
      name,
      `${name}=`,
      `${name}=${value.slice(1)}`,
      `${name}=${value}A`,
      `${name}="${value}"`,
      `${name}=${encodeURIComponent(`${value} `)}`,
      `${name}= ${value}`,
      `${name} =${value}`,
      `${name.toLowerCase()}=${value}`,
      `x${name}=${value}`,
      `flow-${flow.flowId}=${value}`,
      `__Secure-flow-${flow.flowId}=${value}`,
      `__Host-flow-=${value}`,
      `__Host-flow-${"A".repeat(22)}=${value}`,
      `x=1,${name}=${value}`,
      `${name}=${"A".repeat(43)}; ${name}=${value}`,
      `$Version=1; ${name}=${"A".repeat(43)}`,
    ];
    for (const cookie of wrong) {
      const answer = await harness.fixture.request(link, { headers: cookie === undefined ? {} : { cookie } });
      expectRefusalPage(answer, "browser_mismatch", [value]);
    }
    expect((await recordOf(harness.fixture, flow))?.stage).toBe("started");
    expect((await harness.attacker.visit(link)).page).toBeUndefined();
  });

  it("is not a cookie that was valid before: it is cleared with the answer, and the flow is over", async () => {
    const harness = await openScene();
    const { flow, link } = await attackersAnswer(harness);
    const held = harness.attacker.jar.copy();
    await harness.attacker.visit(link);
    expect(harness.attacker.jar.get(new URL(CALLBACK), `__Host-flow-${flow.flowId}`)).toBeUndefined();
    expectRefusalPage((await createBrowser(harness.fixture, "attacker", held).visit(link)).page, "state_replayed");
  });

  it("is recognized by a cookie for this host alone, HttpOnly and SameSite", async () => {
    const harness = await openScene();
    const { flow } = await attackersAnswer(harness);
    const set = harness.fixture.exchanges.flatMap(({ headers }) => headers.getSetCookie());
    expect(set).toHaveLength(1);
    const [pair, ...attributes] = set[0]?.split("; ") ?? [];
    expect(pair).toMatch(new RegExp(`^__Host-flow-${flow.flowId}=[A-Za-z0-9_-]{43}$`));
    expect(new Set(attributes)).toEqual(new Set(["Path=/", "Max-Age=600", "HttpOnly", "SameSite=Lax", "Secure"]));
  });
});

describe("X-11 a sibling subdomain plants the attacker's cookie in the victim's browser", () => {
  async function toss(harness: Scene) {
    const { flow, link } = await attackersAnswer(harness);
    const value = harness.attacker.jar.get(new URL(CALLBACK), `__Host-flow-${flow.flowId}`) ?? "";
    const { host } = new URL(BASE_URL);
    const prefixed = `__Host-flow-${flow.flowId}=${value}`;
    harness.victim.jar.store(new URL(`https://sibling.${host}/`), [
      `${prefixed}; Domain=${host}; Path=/; Secure`,
      `${prefixed}; Domain=.${host}; Path=/; Secure`,
      `${prefixed}; Path=/; Secure`,
      `=${prefixed}; Domain=${host}; Path=/; Secure`,
      `${prefixed}; Domain=${host}; Path=/v1/callback; Secure`,
      `flow-${flow.flowId}=${value}; Domain=${host}; Path=/; Secure`,
      `flow-${flow.flowId}=${value}; Domain=${host}; Path=/v1/callback; Secure`,
    ]);
    expect(harness.victim.jar.header(new URL(CALLBACK))).toContain(value);
    return { flow, destination: await harness.victim.visit(link) };
  }

  it("bar#CB-7 X-11 is refused: only a __Host- name is read, and no other host can set it", async () => {
    const { destination } = await toss(await openScene());
    expectRefusalPage(destination.page, "browser_mismatch");
  });

  it("bar#CB-7 X-11 cannot get in the way of a flow of the victim's own either", async () => {
    const harness = await openScene();
    const { flow: own } = await harness.backend.start(harness.victim, awayFromBroker);
    const name = `__Host-flow-${own.flowId}`;
    harness.victim.jar.store(new URL("https://sibling.broker.example/"), [
      `${name}=evil; Domain=broker.example; Path=/v1/callback; Secure`,
      `flow-${own.flowId}=evil; Domain=broker.example; Path=/v1/callback; Secure`,
    ]);
    expect((await harness.victim.visit(harness.backend.startUrl(own))).page).toBeUndefined();
  });

  it("X-11 twin: without the prefix in readBindingCookie the planted cookie opens the flow", async () => {
    const harness = await openScene();
    // The name counts without its prefix too.
    without(browserBindingModule, ({ readBindingCookie }) => ({
      readBindingCookie: (header, issuer, flowId) =>
        readBindingCookie(header, issuer, flowId) ?? readBindingCookie(header, "http://", flowId),
    }));
    const { flow, destination } = await toss(harness);
    const { body } = await harness.backend.redeem(parameter(destination.url, "code"), flow.codeVerifier);
    expect(ownerOf(body["access_token"])).toBe("attacker");
  });
});
