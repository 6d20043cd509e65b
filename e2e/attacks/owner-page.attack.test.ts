/**
 * Attacker: another customer of the same broker (`other`, owner Mallory), who shares our client at
 * the vendor. Goal: the vendor tokens of users who connected through another client: the vendor
 * knows only the broker and does not ask twice. Defence: the page that names the asking client
 * before the browser leaves (needsOwnerPage), also when that client sends our public client id as
 * its own, and that only the browser it was shown to can answer it (isFormToken).
 */
import { ownerOf } from "@oauth-broker/simulators";
import * as registrationsModule from "../../apps/broker/src/vendor-choice/registrations.ts";
import * as policyModule from "../../apps/broker/src/flows/policy.ts";
import * as serverModule from "@oauth-broker/oauth-core/authorization-server";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { clientsOf } from "./support/fixture.ts";
import { HONEST, VENDOR_CLIENT } from "./support/names.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import { answerOwnerPage, type Form, locationOf, openScene, parameter, recordOf } from "./support/actors.ts";

/**
 * @param form what the attacker pushes
 * @param own further settings of the attacker's client
 */
async function setUp(form: Form = {}, own: object = {}) {
  const isPublic = form["vendor_client_id"] !== undefined;
  const credentials = { id: "first", client_id: VENDOR_CLIENT.clientId };
  const open = { name: "Honest", issuer: HONEST, token_endpoint_auth_method: "none", credentials };
  const config = {
    owners: [{ id: "acme" }, { id: "mallory", name: "Mallory Ltd" }],
    clients: clientsOf({
      platform: { owner: "acme", name: "Reports" },
      other: { owner: "mallory", name: "Free Prizes", ...own },
    }),
  };
  const entries = isPublic ? { entries: { honest: open } } : {};
  const scene = await openScene({ vendor: { isPublic }, config, ...entries });
  const flow = await scene.foe.push(form);
  return {
    ...scene,
    /** The URL that the attacker makes the victim open. */
    link: scene.foe.startUrl(flow),
    stage: async () => (await recordOf(scene.fixture, flow))?.stage,
    redeem: async (url: URL) =>
      ownerOf((await scene.foe.redeem(parameter(url, "code"), flow.codeVerifier)).body["access_token"]),
  };
}
type Harness = Awaited<ReturnType<typeof setUp>>;

/**
 * A form of the attacker that the victim's browser posts, with values from a page the attacker was
 * shown.
 */
const postForVictim = ({ fixture, victim, attacker, link }: Harness) =>
  answerOwnerPage(fixture, link, victim, attacker);

describe("XA-9 a user is lured through the client of another owner", () => {
  it("bar#XA-9 sees which client asks before the browser leaves, and nothing is spent", async () => {
    const harness = await setUp();
    const { page } = await harness.victim.visit(harness.link);
    expect(page?.status).toBe(200);
    for (const name of ["Free Prizes", "Mallory Ltd"]) expect(page?.body).toContain(name);
    expect(page?.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await harness.stage()).toBe("pushed");
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
    expect(await harness.stage()).toBe("pushed");
    expect(harness.honest.codes).toEqual([]);
  });

  it("bar#XA-9 bar#XA-4 by issuer or endpoints alone it is refused at the push", async () => {
    const { foe } = await setUp(OURS);
    for (const form of [{ issuer: HONEST }, FORMS[2]?.[1] ?? {}]) {
      expect(await foe.par({ vendor: undefined, ...OURS, ...form })).toMatchObject({
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
    expect(await harness.stage()).toBe("pushed");
  });

  it("bar#XA-9 twin: without isFormToken a form of the attacker's approves for the victim", async () => {
    const harness = await setUp();
    await harness.victim.visit(harness.link);
    without(serverModule, () => ({ isFormToken: () => true }));
    const { url } = await harness.victim.visit(locationOf(await postForVictim(harness)));
    expect(await harness.redeem(url)).toBe("victim");
  });
});

describe("XA-9 the attacker's client vouches for browsers itself", () => {
  const VOUCHING = { browser_binding: "platform" };

  /** The attacker answers the page in its own browser, and the victim follows the vendor's URL. */
  const approveFor = async ({ fixture, link, victim, attacker }: Harness) =>
    victim.visit(locationOf(await answerOwnerPage(fixture, link, attacker)));

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
