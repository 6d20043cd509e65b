/**
 * Attacker: the author of a server that is deployed on the reference platform, with a page that a
 * user of the platform opens. Goal: the user's session at the platform, the cookies of another
 * server's flows, or the attacker's own cookies in their place, so that the user continues as the
 * attacker. Browsers send a cookie to every port of a host. Defence: the ingress lets a server see
 * and set only cookies that carry its connector's name (incomingCookies, outgoingCookie).
 */
import { startIngress } from "@oauth-broker/platform/src/testing/test-ingress.ts";
import { type CookieJar, createCookieJar } from "@oauth-broker/simulators";
import * as cookiesModule from "../../apps/platform/src/ingress/cookies.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { createVisitor, startPlatform, type Visitor } from "../support/reference-platform/harness.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { without } from "./support/outcomes.ts";

const FLOW_COOKIE = "flow-1";
const platform = shared(startPlatform);
const honest = shared(() => deployed("honest-server"));
const evil = shared(() => deployed("honest-server-2"));
/** The cookies of the victim's browser. */
let jar: CookieJar;
let victim: Visitor;

/**
 * A server behind its ingress, with a page that needs no token.
 * @returns `setCookies`: set with its next answers; `cookie`: the header of the last request that reached it
 */
async function deployed(connectorId: string) {
  const server = { setCookies: [] as readonly string[], cookie: undefined as string | undefined };
  const { url, close } = await startIngress(
    (request, response) => {
      server.cookie = request.headers.cookie;
      response.writeHead(200, { "set-cookie": [...server.setCookies] }).end();
    },
    { connectorId, expose: ["/authorize"] },
  );
  return Object.assign(server, { url, close });
}

/** In the victim's browser. */
async function open(server: typeof honest): Promise<void> {
  const url = new URL("/authorize", server.url);
  const cookie = jar.header(url);
  const answer = await fetch(url, { headers: cookie === undefined ? {} : { cookie } });
  jar.store(url, answer.headers.getSetCookie());
}

beforeEach(async () => {
  jar = createCookieJar();
  victim = await createVisitor(platform.url, "first-user", jar);
  honest.setCookies = [`${FLOW_COOKIE}=secret-of-the-flow; Path=/; HttpOnly`];
  evil.setCookies = [];
  await open(honest);
});

/** What the attacker's server receives when the victim opens its page. */
async function spy(): Promise<string> {
  await open(evil);
  return evil.cookie ?? "";
}

/**
 * Plants the attacker's own session and flow in the victim's browser.
 * @returns the user the platform takes the victim for, and the flow's cookie
 */
async function plant(): Promise<{ readonly page: string; readonly flow: string | undefined }> {
  const own = createCookieJar();
  await createVisitor(platform.url, "second-user", own);
  const [session = ""] = (own.header(new URL(platform.url)) ?? "").split("; ");
  evil.setCookies = [`${session}; Path=/; HttpOnly`, `${FLOW_COOKIE}=of-the-attacker; Path=/; HttpOnly`];
  await open(evil);
  await open(honest);
  return { page: await victim.read("/connectors"), flow: honest.cookie };
}

describe("a deployed server whose page a user opens", () => {
  it("bar#CB-7 receives neither the platform's session nor another server's flow", async () => {
    expect(jar.header(new URL(evil.url))).toContain("platform-session-");
    expect(await spy()).toBe("");
    await open(honest);
    expect(honest.cookie).toBe(`${FLOW_COOKIE}=secret-of-the-flow`);
  });

  it("bar#CB-7 can set neither in the user's browser", async () => {
    const { page, flow } = await plant();
    expect(page).toContain("Signed in as First user");
    expect(flow).toBe(`${FLOW_COOKIE}=secret-of-the-flow`);
  });

  it("has its own cookies as it set them", async () => {
    evil.setCookies = ["mine=1; Path=/"];
    await open(evil);
    expect(await spy()).toBe("mine=1");
  });

  it("twin: were cookies let in as they are, it would have the session", async () => {
    without(cookiesModule, () => ({ incomingCookies: (header) => header }));
    const seen = await spy();
    expect(seen).toContain("platform-session-");
    expect(seen).toContain("secret-of-the-flow");
  });

  it("twin: were cookies let out as they are, the user would go on as the attacker", async () => {
    without(cookiesModule, () => ({ outgoingCookie: (setCookie) => setCookie }));
    const { page } = await plant();
    expect(page).toContain("Signed in as Second user");
  });

  it("twin: were both let through, another server would take the attacker's flow for the user's", async () => {
    without(cookiesModule, () => ({ outgoingCookie: (setCookie) => setCookie }));
    await open(honest);
    without(cookiesModule, () => ({ incomingCookies: (header) => header }));
    const { flow } = await plant();
    expect(flow).toContain(`${FLOW_COOKIE}=of-the-attacker`);
  });
});
