import { formToken } from "@oauth-broker/oauth-core/authorization-server";
import { listen } from "@oauth-broker/service";
import { driveConsent, startOpenIdProvider } from "@oauth-broker/simulators";
import { shared } from "@oauth-broker/oauth-core/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { REDIRECT_URI } from "../testing/test-connect.ts";
import { sendRaw } from "../testing/test-ingress.ts";
import { csrfIn, firstPage, openTestPlatform, PLATFORM_URL } from "../testing/test-visitor.ts";

const SECRET = "client-secret-canary-of-32-characters";
const PATH = "/connectors/sample";

const CLIENT = { clientId: "ours", clientSecret: SECRET, redirectUris: [REDIRECT_URI] };
const provider = shared(() => startOpenIdProvider({ clients: [CLIENT] }));
const test = shared(openTestPlatform);
const administrator = shared(() => test.visitor());
const user = shared(() => test.visitor());
beforeAll(async () => {
  await test.desk.addConnector("sample", {});
  await test.desk.connectors.create({ id: "a-draft", name: "<Draft> & co" });
  await administrator.signIn("admin");
  await user.signIn("first-user");
});

const fields = (over: Record<string, string> = {}): Record<string, string> => ({
  authentication: "oauth_2_1",
  registration: "pre_registered_client",
  vendorOrIssuer: provider.issuer,
  clientId: "ours",
  clientSecret: SECRET,
  authorizationUrl: "",
  tokenUrl: "",
  scopes: "openid profile",
  placeholders: "",
  ...over,
});
const save = (over: Record<string, string> = {}): Promise<Response> =>
  administrator.submit(`${PATH}/settings`, `${PATH}/settings`, fields(over));

describe("signing in", () => {
  it("says that it is no identity system, and sets an HttpOnly SameSite cookie", async () => {
    const visitor = test.visitor();
    expect(await (await visitor.get("/")).text()).toContain("is not an identity system");
    const answer = await visitor.signIn("second-user");
    expect(answer.status).toBe(303);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-platform-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(await (await visitor.get("/connectors")).text()).toContain("Signed in as Second user");
    expect((await visitor.submit("/connectors", "/sign-out")).headers.get("location")).toBe("/");
    expect((await visitor.get("/connectors")).headers.get("location")).toBe("/");
  });

  it("has no Secure cookie on loopback's http, where a browser would drop it", async () => {
    const plain = await openTestPlatform("http://127.0.0.1:8789");
    const set = (await plain.visitor().signIn("admin")).headers.get("set-cookie");
    expect(set).toMatch(/^platform-session-8789=/);
    expect(set).not.toContain("Secure");
    await plain.close();
  });

  it("refuses a form of another browser, and a user there is not", async () => {
    const visitor = test.visitor();
    expect((await visitor.post("/sign-in", { user: "admin", csrf: "x" })).status).toBe(403);
    expect((await visitor.submit("/", "/sign-in", { user: "unknown" })).status).toBe(400);
  });
});

it.each(["https://rebound.example/", "http://127.0.0.1:8789/connectors", "https://platform.example:8443/"])(
  "a request by another name to %s is refused, and sets no cookie",
  async (url) => {
    const answer = await test.platform.app.request(url);
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    expect(await answer.text()).toBe("This platform is at https://platform.example");
  },
);

it("the name is the Host a browser sends", async () => {
  const listening = await listen(test.platform.app, { host: "127.0.0.1", port: 0 });
  const statusAt = async (host: string): Promise<number> =>
    (await sendRaw(`http://127.0.0.1:${listening.port}`, { headers: { host } })).status;
  expect([await statusAt("rebound.example"), await statusAt("platform.example")]).toEqual([403, 200]);
  await listening.stop(0);
});

describe("a form", () => {
  it.each([
    "/sign-out",
    `${PATH}/connect`,
    `${PATH}/disconnect`,
    `${PATH}/settings`,
    `${PATH}/try`,
    `${PATH}/refresh`,
    `${PATH}/revoke`,
  ])("to %s needs the token of its page, in this browser", async (path) => {
    const refused = await user.post(path, {});
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("This form was not accepted"),
    ]);
    expect((await test.visitor().post(path, { csrf: "x" })).status).toBe(403);
    const foreign = csrfIn(await (await administrator.get("/connectors")).text());
    expect(foreign).not.toBe("");
    expect((await user.post(path, { csrf: foreign })).status).toBe(403);
  });

  it.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["same-origin", 303],
  ])("bar#RS-7 from a page that is %s is answered %i, whatever token it has", async (site, status) => {
    const { app } = test.platform;
    const { cookie, csrf } = await firstPage(test.platform, `${PLATFORM_URL}/`);
    const body = new URLSearchParams({ csrf, user: "first-user" });
    const headers = { cookie, "sec-fetch-site": site };
    const answer = await app.request(`${PLATFORM_URL}/sign-in`, { method: "POST", headers, body });
    expect(answer.status).toBe(status);
  });
});

describe("pages", () => {
  it("hold no script, are not framed, and escape what they show", async () => {
    const answer = await user.get("/connectors");
    const html = await answer.text();
    expect(html).toContain("&lt;Draft&gt; &amp; co");
    expect(html).not.toMatch(/<script|<Draft>/);
    for (const path of ["/", "/connectors", PATH]) {
      const { headers } = await user.get(path);
      expect(headers.get("cache-control")).toBe("no-store");
      if (path === "/") continue;
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("of connectors there are not answer 404, and without a user lead to the chooser", async () => {
    expect((await user.get("/connectors/nothing")).status).toBe(404);
    for (const path of [PATH, `${PATH}/settings`, `${PATH}/try`]) {
      expect((await test.visitor().get(path)).headers.get("location")).toBe("/");
    }
  });
});

describe("the Settings tab", () => {
  it("is for administrators", async () => {
    expect((await user.get(`${PATH}/settings`)).status).toBe(403);
    expect(await (await user.get(PATH)).text()).not.toContain("/settings");
    const before = await test.desk.connectors.find("sample");
    // The cookie is enough to derive the token.
    const [, value = ""] = (user.jar.header(new URL("https://platform.example/")) ?? "").split("=");
    const csrf = formToken(`${PATH}/settings`, { value, hash: "" });
    const refused = await user.post(`${PATH}/settings`, { ...fields(), csrf });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("not_administrator")]);
    expect(await test.desk.connectors.find("sample")).toEqual(before);
  });

  it("saves every field, and shows the secret nowhere", async () => {
    const saved = await save({ tokenUrl: `${provider.issuer}/{what}`, placeholders: "what=token" });
    expect(saved.headers.get("location")).toBe(`${PATH}/settings?saved`);
    const html = await (await administrator.get(`${PATH}/settings?saved`)).text();
    for (const shown of ["Saved.", provider.issuer, "what=token", "A secret is stored", REDIRECT_URI])
      expect(html).toContain(shown);
    expect(html).not.toContain(SECRET);
    expect(test.desk.folderText()).not.toContain(SECRET);
    expect((await save()).status).toBe(303);
    expect((await test.desk.connectors.find("sample"))?.settings).toEqual({
      authentication: "oauth_2_1",
      registration: "pre_registered_client",
      clientId: "ours",
      hasClientSecret: true,
      vendorOrIssuer: provider.issuer,
      scopes: "openid profile",
      placeholders: {},
    });
  });

  it.each([
    ["tokenUrl", { tokenUrl: "https://10.0.0.1/token" }],
    ["authorizationUrl", { authorizationUrl: "https://{tenant}.vendor.example/a" }],
    ["placeholders", { placeholders: "tenant" }],
    ["placeholders", { tokenUrl: "https://id.example.com/{t}", placeholders: "t=a,t=b" }],
    ["placeholders", { placeholders: "unused=x" }],
    ["scopes", { scopes: 'a"b' }],
    ["registration", { registration: "none" }],
    ["authentication", { authentication: "magic" }],
    ["clientSecret", { clientId: "another", clientSecret: "" }],
  ])("shows at %s what is wrong, keeps what was entered, and saves nothing", async (field, over) => {
    await save();
    const before = await test.desk.connectors.find("sample");
    const answer = await save(over);
    const html = await answer.text();
    expect(answer.status).toBe(400);
    expect(html).toContain(`id="${field}-problem"`);
    expect(html).toMatch(new RegExp(`name="${field}"[^>]* aria-invalid="true"`));
    expect(html).not.toContain(SECRET);
    expect(await test.desk.connectors.find("sample")).toEqual(before);
  });

  it("deletes the secret on request", async () => {
    await save();
    await save({ clientSecret: "", forgetSecret: "yes" });
    expect((await test.desk.connectors.find("sample"))?.settings.hasClientSecret).toBe(false);
  });
});

describe("connecting", () => {
  const goToVendor = async (decision: "approve" | "cancel"): Promise<string> => {
    const answer = await user.submit(PATH, `${PATH}/connect`);
    const stopAt = (url: URL): boolean => url.href.startsWith(REDIRECT_URI);
    return (await driveConsent(answer.headers.get("location") ?? "", { stopAt, decision })).href;
  };

  it("shows the standardized error after a cancel, then Connected, then not any more", async () => {
    await save({ scopes: "openid profile" });
    expect((await user.get(await goToVendor("cancel"))).headers.get("location")).toBe(PATH);
    expect(await (await user.get(PATH)).text()).toMatch(/You cancelled at the vendor[^]*access_denied/);
    expect((await user.get(await goToVendor("approve"))).headers.get("location")).toBe(PATH);
    const html = await (await user.get(PATH)).text();
    expect(html).toContain("<dd>Connected</dd>");
    expect(html).not.toContain("access_denied");
    expect(await (await administrator.get(PATH)).text()).toContain("Not connected");
    await user.submit(PATH, `${PATH}/disconnect`);
    expect(await (await user.get(PATH)).text()).toContain("Not connected");
  });

  it("is not spent by a browser that prefetches (h12)", async () => {
    const back = new URL(await goToVendor("approve"), PLATFORM_URL);
    const ahead = { cookie: user.jar.header(back) ?? "", "sec-purpose": "prefetch" };
    const refused = await test.platform.app.request(back.href, { headers: ahead });
    expect([refused.status, refused.headers.get("cache-control")]).toEqual([403, "no-store"]);
    expect((await user.get(back.href)).headers.get("location")).toBe(PATH);
    expect(await (await user.get(PATH)).text()).toContain("<dd>Connected</dd>");
  });

  it("asks before a disconnect, without a script, and says what it did (#29)", async () => {
    await user.get(await goToVendor("approve"));
    const html = await (await user.get(PATH)).text();
    const asked = /<details[^]*<\/details>/.exec(html)?.[0] ?? "";
    expect(asked).toMatch(
      /<summary>Disconnect<\/summary>[^]*until you connect again[^]*name="csrf"[^]*Yes, disconnect<\/button>/,
    );
    expect(html.replace(asked, "")).not.toContain("disconnect");
    const ended = await (await user.submit(PATH, `${PATH}/disconnect`)).text();
    expect(ended).toMatch(/role="status"[^]*deleted here, and revoked at their issuer/);
    expect(ended).toContain("Not connected");
    expect(await (await user.post(`${PATH}/disconnect`, { csrf: csrfIn(asked) })).text()).toContain("Nothing was done");
  });

  it("cannot be finished in another browser, or for another user in the same one", async () => {
    const back = await goToVendor("approve");
    expect((await administrator.get(back)).status).toBe(400);
    const stranger = await test.visitor().get(back);
    expect([stranger.status, await stranger.text()]).toEqual([400, expect.stringContaining("not_signed_in")]);
    await user.submit(PATH, "/sign-out");
    await user.signIn("second-user");
    expect((await user.get(back)).status).toBe(400);
    await user.submit(PATH, "/sign-out");
    await user.signIn("first-user");
  });

  it("says why a connector cannot be connected", async () => {
    expect(await (await user.get("/connectors/a-draft")).text()).toContain("This connector is a draft");
    await save({ clientId: "", clientSecret: "", forgetSecret: "yes" });
    await user.submit(PATH, `${PATH}/connect`);
    expect(await (await user.get(PATH)).text()).toContain("has no OAuth client");
  });

  it("leaves no secret, code or state in the log", async () => {
    await save();
    const back = new URL(await goToVendor("approve"));
    await user.get(back.href);
    const text = test.log.join("");
    expect(text).toContain("/oauth/callback");
    for (const value of [SECRET, ...back.searchParams.values()].filter(
      (one) => one.length > 15 && !one.startsWith("http"),
    )) {
      expect(text).not.toContain(value);
    }
  });
});

describe("the Try page", () => {
  it("says what is missing when the user is not connected, or the server does not answer", async () => {
    expect(await (await administrator.get(`${PATH}/try`)).text()).toContain("You are not connected");
    expect(await (await user.get(`${PATH}/try`)).text()).toContain("cannot answer now");
  });
});
