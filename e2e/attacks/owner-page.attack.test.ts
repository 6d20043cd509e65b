/**
 * Attacker: another customer of the same broker (`other`, owner Mallory), who shares our client at
 * the vendor. Goal: the vendor tokens of users who connected through another client: the vendor
 * knows only the broker and does not ask twice. Defence: the page that names the asking client
 * before the browser leaves (needsOwnerPage), also when that client sends our public client id as
 * its own, and that only the browser it was shown to can answer it (isFormToken).
 */
import { createFakeVendor, ownerOf } from "@oauth-broker/simulators";
import * as registrationsModule from "../../apps/broker/src/vendor-choice/registrations.ts";
import * as policyModule from "../../apps/broker/src/flows/policy.ts";
import * as serverModule from "@oauth-broker/oauth-core/server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { BASE_URL, CALLBACK, type Exchange, PLATFORMS, VENDOR_CLIENT } from "./support/names.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import {
  type Browser,
  createBackend,
  createBrowser,
  encode,
  type Flow,
  type Form,
  parameter,
} from "./support/actors.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

interface Harness {
  readonly fixture: Fixture;
  readonly victim: Browser;
  readonly flow: Flow;
  /** The URL that the attacker makes the victim open. */
  readonly link: URL;
  redeem(url: URL): Promise<unknown>;
}

const HONEST = "https://honest.example";

/**
 * @param form what the attacker pushes
 * @param own further settings of the attacker's client
 */
async function setUp(form: Form = {}, own: object = {}): Promise<Harness> {
  const isPublic = form["vendor_client_id"] !== undefined;
  const honest = createFakeVendor({ ...VENDOR_CLIENT, origin: HONEST, redirectUri: CALLBACK, isPublic });
  const credentials = { id: "first", client_id: VENDOR_CLIENT.clientId };
  const open = { name: "Honest", issuer: HONEST, token_endpoint_auth_method: "none", credentials };
  const clientOf = (id: keyof typeof PLATFORMS, owner: string, name: string) => ({
    client_id: id,
    client_secret: PLATFORMS[id].secret,
    redirect_uris: [PLATFORMS[id].redirectUri],
    owner,
    name,
  });
  const config = {
    owners: [{ id: "acme" }, { id: "mallory", name: "Mallory Ltd" }],
    clients: [clientOf("platform", "acme", "Reports"), { ...clientOf("other", "mallory", "Free Prizes"), ...own }],
  };
  const fixture = await createFixture({
    vendors: [honest],
    config,
    ...(isPublic ? { entries: { honest: open } } : {}),
  });
  const backend = createBackend(fixture, "other");
  const flow = await backend.push(form);
  return {
    fixture,
    victim: createBrowser(fixture, "victim"),
    flow,
    link: backend.startUrl(flow),
    redeem: async (url) =>
      ownerOf((await backend.redeem(parameter(url, "code"), flow.codeVerifier)).body["access_token"]),
  };
}

async function stageOf({ fixture, flow }: Harness): Promise<string | undefined> {
  return (await fixture.broker.deps.records.get({ kind: "flow", id: flow.flowId }))?.stage;
}

/**
 * A form of the attacker that the victim's browser posts, with values from a page the attacker was
 * shown.
 */
async function postForVictim({ fixture, victim, link }: Harness): Promise<Exchange> {
  const own = await createBrowser(fixture, "attacker").visit(link);
  const csrf = /name="csrf" value="([^"]+)"/.exec(own.page?.body ?? "")?.[1];
  const authorize = new URL(`${BASE_URL}/v1/authorize`);
  const cookie = victim.jar.header(authorize);
  return fixture.request(authorize, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...(cookie === undefined ? {} : { cookie }) },
    body: encode({ ...Object.fromEntries(link.searchParams), csrf, decision: "approve" }),
  });
}

describe("XA-9 a user is lured through the client of another owner", () => {
  it("bar#XA-9 sees which client asks before the browser leaves, and nothing is spent", async () => {
    const harness = await setUp();
    const { page } = await harness.victim.visit(harness.link);
    expect(page?.status).toBe(200);
    for (const name of ["Free Prizes", "Mallory Ltd"]) expect(page?.body).toContain(name);
    expect(page?.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await stageOf(harness)).toBe("pushed");
  });

  it("bar#XA-9 twin: without needsOwnerPage the attacker holds the victim's tokens", async () => {
    const harness = await setUp();
    without(registrationsModule, () => ({ needsOwnerPage: () => false }));
    const { url, page } = await harness.victim.visit(harness.link);
    expect(page).toBeUndefined();
    expect(await harness.redeem(url)).toBe("victim");
  });
});

describe("XA-9 the attacker sends our public client id at the vendor as one of its own", () => {
  const OURS = { vendor_client_id: VENDOR_CLIENT.clientId };
  const FORMS: readonly [string, Form][] = [
    ["at the vendor's entry", OURS],
    ["in capitals", { vendor_client_id: VENDOR_CLIENT.clientId.toUpperCase() }],
    [
      "with the vendor's own endpoints",
      { ...OURS, authorization_endpoint: `${HONEST}/authorize`, token_endpoint: `${HONEST}/token` },
    ],
  ];

  it.each(FORMS)("bar#XA-9 %s the user still sees which client asks, and nothing is spent", async (_, form) => {
    const harness = await setUp(form);
    const { page } = await harness.victim.visit(harness.link);
    expect(page?.status).toBe(200);
    for (const name of ["Free Prizes", "Mallory Ltd"]) expect(page?.body).toContain(name);
    expect(await stageOf(harness)).toBe("pushed");
    expect(harness.fixture.vendors[0]?.codes).toEqual([]);
  });

  it("bar#XA-9 bar#XA-4 by issuer or endpoints alone it is refused at the push", async () => {
    const { fixture } = await setUp(OURS);
    const backend = createBackend(fixture, "other");
    for (const form of [{ issuer: HONEST }, FORMS[2]?.[1] ?? {}]) {
      expect(await backend.par({ vendor: undefined, ...OURS, ...form })).toMatchObject({
        status: 400,
        body: { error: "unauthorized_client", reason: "override_not_allowed" },
      });
    }
  });

  it.each(FORMS.filter(([name]) => name !== "in capitals"))(
    "bar#XA-9 twin: if BYOC needs no page (needsOwnerPage), %s, tokens are stolen",
    async (_, form) => {
      const harness = await setUp(form);
      without(registrationsModule, ({ needsOwnerPage }) => ({
        needsOwnerPage: (choice, ...rest) => choice.credentials.source !== "byoc" && needsOwnerPage(choice, ...rest),
      }));
      const { url, page } = await harness.victim.visit(harness.link);
      expect(page).toBeUndefined();
      expect(await harness.redeem(url)).toBe("victim");
    },
  );
});

describe("XA-9 the page is answered for the user", () => {
  it("bar#XA-9 is refused with the attacker's token, with or without cookie, and burns nothing", async () => {
    const harness = await setUp();
    expectRefusalPage(await postForVictim(harness), "browser_mismatch");
    await harness.victim.visit(harness.link);
    expectRefusalPage(await postForVictim(harness), "csrf_mismatch");
    expect(await stageOf(harness)).toBe("pushed");
  });

  it("bar#XA-9 twin: without isFormToken a form of the attacker's approves for the victim", async () => {
    const harness = await setUp();
    await harness.victim.visit(harness.link);
    without(serverModule, () => ({ isFormToken: () => true }));
    const { headers } = await postForVictim(harness);
    const { url } = await harness.victim.visit(new URL(headers.get("location") ?? ""));
    expect(await harness.redeem(url)).toBe("victim");
  });
});

describe("XA-9 the attacker's client vouches for browsers itself", () => {
  const VOUCHING = { browser_binding: "platform" };

  /** The attacker answers the page in its own browser, and the victim follows the vendor's URL. */
  async function approveFor(harness: Harness) {
    const { fixture, link, victim } = harness;
    const attacker = createBrowser(fixture, "attacker");
    const { page } = await attacker.visit(link);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page?.body ?? "")?.[1];
    const cookie = attacker.jar.header(link);
    const { headers } = await fixture.request(new URL(`${BASE_URL}/v1/authorize`), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...(cookie === undefined ? {} : { cookie }) },
      body: encode({ ...Object.fromEntries(link.searchParams), csrf, decision: "approve" }),
    });
    return victim.visit(new URL(headers.get("location") ?? ""));
  }

  it("bar#XA-9 is refused before there is a page to answer", async () => {
    await expect(setUp({}, VOUCHING)).rejects.toThrow("browser_binding");
  });

  it("bar#XA-9 binds the browser of the page all the same (requireBrowserBinding off)", async () => {
    weaken(registrationsModule, () => ({ requireBrowserBinding: () => undefined }));
    const { page } = await approveFor(await setUp({}, VOUCHING));
    expectRefusalPage(page ?? expect.fail("no page"), "browser_mismatch");
  });

  it("bar#XA-9 twin: without both the attacker gets the tokens without asking the user", async () => {
    weaken(registrationsModule, () => ({ requireBrowserBinding: () => undefined }));
    without(policyModule, ({ createFlows }) => ({
      createFlows: (deps) => {
        const flows = createFlows(deps);
        const start: typeof flows.start = (request, choice, cookie, trace, set = {}) => {
          const { binding: _, ...rest } = set;
          return flows.start(request, choice, cookie, trace, rest);
        };
        return { ...flows, start };
      },
    }));
    const harness = await setUp({}, VOUCHING);
    const { url } = await approveFor(harness);
    expect(await harness.redeem(url)).toBe("victim");
  });
});
