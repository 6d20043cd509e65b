import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { html } from "hono/html";
import { expect, it, onTestFinished } from "vitest";
import { createCookieJar } from "../../cookie-jar.ts";
import { driveConsent } from "../../drive-consent.ts";
import { startVendorHost, wayBack } from "./host.ts";
import { json } from "./members.ts";
import { newGrant } from "./tokens.ts";

const CALLBACK = "http://127.0.0.1:9/callback";
const back = wayBack(CALLBACK, {});
const isCallback = (url: URL) => url.port === "9";

async function start(options: { isAllowedBefore?: boolean; selectAccount?: boolean } = {}, homeUrl?: string) {
  const now = fixedClock(1_700_000_000);
  const host = await startVendorHost(
    { id: "example", brand: "Example" },
    { now, ...(homeUrl === undefined ? {} : { homeUrl }) },
  );
  host.app.get("/authorize", (c) =>
    host.consent.ask(c, {
      app: "<App>",
      permissions: [{ scope: "read", text: "Read" }],
      questions: (user) => html`<input type="hidden" name="site" value="${user.id}-site" />`,
      ...options,
      isAllowedBefore: () => options.isAllowedBefore === true,
      onAllow: (user, form) => back({ user: user.id, site: form.get("site") ?? "" }),
      onCancel: () => back({ error: "access_denied" }),
    }),
  );
  host.app.post("/token", (c) => json({ refused: host.takeRefusal("token") ?? null, url: c.req.url }));
  const simulator = host.simulator({}, { token: ["no"] });
  onTestFinished(simulator.close);
  return { host, simulator, advance: now.advance };
}

it("a person signs in once per browser, allows with the vendor's own answers, or cancels", async () => {
  const { simulator } = await start();
  const cookieJar = createCookieJar();
  const url = `${simulator.url}/authorize`;

  const allowed = await driveConsent(url, { account: "operator", cookieJar, stopAt: isCallback });
  expect(Object.fromEntries(allowed.searchParams)).toEqual({ user: "operator", site: "operator-site" });
  const again = await driveConsent(url, { account: "user", cookieJar, stopAt: isCallback });
  expect(again.searchParams.get("user")).toBe("operator");

  for (const decision of ["cancel", "cancel-sign-in"] as const) {
    const cancelled = await driveConsent(url, { decision, stopAt: isCallback });
    expect(cancelled.searchParams.get("error")).toBe("access_denied");
  }
});

it("an app that was allowed before gets no consent page", async () => {
  const { simulator } = await start({ isAllowedBefore: true });
  const allowed = await driveConsent(`${simulator.url}/authorize`, { stopAt: isCallback });
  expect(Object.fromEntries(allowed.searchParams)).toEqual({ user: "user", site: "" });
});

it("a request that wants the account chosen asks again, also a browser that is signed in", async () => {
  const { simulator } = await start({ selectAccount: true });
  const cookieJar = createCookieJar();
  for (const account of ["operator", "user"] as const) {
    const allowed = await driveConsent(`${simulator.url}/authorize`, { account, cookieJar, stopAt: isCallback });
    expect(allowed.searchParams.get("user")).toBe(account);
  }
});

it("Back after the end is a page that leads to the start", async () => {
  const homeUrl = "http://127.0.0.1:9/home";
  const { simulator } = await start({}, homeUrl);
  const cookieJar = createCookieJar();
  const stopAt = (url: URL) => url.pathname === "/simulator/consent";
  const consent = await driveConsent(`${simulator.url}/authorize`, { cookieJar, stopAt });
  const open = (cookie: string) => fetch(consent, { headers: { cookie } });
  const cookie = cookieJar.header(consent) ?? "";
  expect((await open("")).status).toBe(400);
  expect(await (await open(cookie)).text()).toContain("&lt;App&gt;");
  await driveConsent(consent, { cookieJar, stopAt: isCallback });
  const back = await open(cookie);
  expect(back.status).toBe(400);
  expect(await back.text()).toContain(`href="${homeUrl}"`);
  expect(await (await fetch(simulator.url)).text()).toContain("practice copy of Example");
});

it("the consent form works once, in the asked browser; the app's name is escaped", async () => {
  const { simulator } = await start();
  const cookieJar = createCookieJar();
  const address = new URL(`${simulator.url}/authorize`);
  await driveConsent(address, { cookieJar, stopAt: isCallback });
  const page = await fetch(address, { headers: { Cookie: cookieJar.header(address)! } });
  const text = await page.text();
  expect(text).toContain("Allow &lt;App&gt; to use your Example account?");
  expect(page.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");

  const form = { ask: /name="ask" value="([^"]+)"/.exec(text)![1]!, decision: "approve" };
  const send = async (headers: Record<string, string>) => {
    const body = new URLSearchParams(form);
    const answer = await fetch(`${simulator.url}/simulator/consent`, {
      method: "POST",
      body,
      headers,
      redirect: "manual",
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await send({})).toBe(400);
  expect(await send({ Cookie: cookieJar.header(address)! })).toBe(302);
  expect(await send({ Cookie: cookieJar.header(address)! })).toBe(400);
});

it("requests are recorded without their secrets", async () => {
  const { simulator } = await start();
  await fetch(`${simulator.url}/token?token=query-secret`, {
    method: "POST",
    headers: { Authorization: "Basic aWQ6c2VjcmV0", Accept: "application/json" },
    body: new URLSearchParams({ grant_type: "authorization_code", code: "form-secret", client_secret: "" }),
  });
  await fetch(`${simulator.url}/token`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ refresh_token: "json-secret", n: 1 }),
  });
  expect(simulator.requests()).toEqual([
    {
      method: "POST",
      path: "/token",
      query: { token: "(secret)" },
      body: { grant_type: "authorization_code", code: "(secret)", client_secret: "" },
      authorization: "Basic",
      accept: "application/json",
      contentType: "application/x-www-form-urlencoded",
      status: 200,
    },
    expect.objectContaining({ body: { refresh_token: "(secret)" }, contentType: "application/json" }),
  ]);
});

it("refusals and faults happen once, in order, and unknown refusals are a mistake of the test", async () => {
  const { simulator } = await start();
  const post = () => fetch(`${simulator.url}/token`, { method: "POST" });
  simulator.refuseNext("token", "no");
  expect(await (await post()).json()).toMatchObject({ refused: "no" });
  expect(await (await post()).json()).toMatchObject({ refused: null });
  expect(() => simulator.refuseNext("token", "maybe")).toThrow("example has no token error maybe");

  simulator.faultNext("/token", { kind: "answer", status: 503, headers: { "Content-Type": "text/html" }, body: "<p>" });
  simulator.faultNext("/token", { kind: "rewrite", rewrite: () => ({ access_token: 1 }) });
  simulator.faultNext("/token", { kind: "drop" });
  simulator.faultNext("/token", { kind: "hang" });
  const unavailable = await post();
  expect([unavailable.status, await unavailable.text()]).toEqual([503, "<p>"]);
  expect(await (await post()).json()).toEqual({ access_token: 1 });
  simulator.refuseNext("token", "no");
  await expect(post()).rejects.toThrow("fetch failed");
  const hung = fetch(`${simulator.url}/token`, { method: "POST", signal: AbortSignal.timeout(100) });
  await expect(hung).rejects.toThrow("aborted due to timeout");
  // `drop` and `hang` never reach the vendor, `lose` does.
  simulator.faultNext("/token", { kind: "lose" });
  await expect(post()).rejects.toThrow("fetch failed");
  expect(await (await post()).json()).toMatchObject({ refused: null });
  expect(simulator.requests().map(({ status }) => status)).toEqual([200, 200, 503, 200, 0, 0, 0, 200]);
});

it("tokens end by time, alone, by grant, by person and with the app", async () => {
  const { host, simulator, advance } = await start();
  const issue = (user: string, clientId: string) => {
    const grant = newGrant({ user, clientId, scopes: [] });
    return [
      host.tokens.issue("access", grant, { prefix: "at_", lifetimeSeconds: 60 }),
      host.tokens.issue("refresh", grant),
    ] as const;
  };
  const [short, long] = issue("user", "a");
  const [other] = issue("operator", "a");
  const [elsewhere] = issue("user", "b");
  expect(short).toMatch(/^at_/);
  expect(simulator.liveTokens("user")).toEqual([short, long, elsewhere, expect.any(String)]);
  expect(simulator.liveTokens()).toHaveLength(6);
  host.tokens.end(elsewhere, "revoked");
  expect(simulator.isLive(elsewhere)).toBe(false);
  simulator.disconnect("user", "a");
  expect(simulator.isLive(long)).toBe(false);
  expect(simulator.isLive(other)).toBe(true);
  advance(60);
  expect(host.tokens.find(other)?.state).toBe("expired");
});
