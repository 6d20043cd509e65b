/**
 * Clients that describe themselves at a URL: what is fetched, what is accepted, how long it is
 * cached.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { DESK, expectPage, location, openStubServerFixture } from "../../testing/server-fixture.ts";

const ID = "https://client.example/oauth/id.json";
const URI = "https://client.example/back";
const DOCUMENT = { client_id: ID, client_name: "Client with a document", redirect_uris: [URI] };
const ASK = { client_id: ID, redirect_uri: URI };

/** The response of the client's host, and how often it was asked. */
let host: { answer: () => Response | Promise<Response>; asked: string[] };
const json = (body: unknown, headers: Record<string, string> = {}, status = 200): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

beforeEach(() => {
  // Past everything an earlier test left in the cache.
  fixture.clock.advance(100_000);
  host = { answer: () => json(DOCUMENT), asked: [] };
});
const fetchDocument: Fetch = async (url) => {
  host.asked.push(String(url));
  return host.answer();
};
const fixture = shared(() =>
  openStubServerFixture({
    fetchDocument,
    callback: { clientMetadataHosts: ["client.example", "client.example:8443"], clients: [DESK] },
  }),
);

const authorize = (parameters: Record<string, string> = {}) => fixture.browser().authorize({ ...ASK, ...parameters });

describe("a client with a document", () => {
  it("connects as itself, named by its host, and no cookie is sent there", async () => {
    const browser = fixture.browser();
    const page = await browser.ask(ASK);
    expect(page.html).toContain("Client with a document");
    expect(page.html).toContain("its own description at client.example");
    const back = location(await browser.decide(page));
    const callback = await browser.finish(await browser.consent(back));
    expect(callback.href.startsWith(`${URI}?code=`)).toBe(true);
    const { status, body } = await fixture.redeem(callback.searchParams.get("code"), ASK);
    expect(status).toBe(200);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ clientId: ID });
    expect(host.asked).toEqual([ID]);
    const metadata = await fixture.request("/.well-known/oauth-authorization-server");
    expect(await metadata.json()).toMatchObject({ client_id_metadata_document_supported: true });
  });

  it("rfc8252#7.3 that lists localhost without a port gets the answer at the port it sends", async () => {
    const client = { client_id: ID, redirect_uri: "http://localhost:51823/callback" };
    host.answer = () => json({ ...DOCUMENT, redirect_uris: ["http://localhost/callback"] });
    const callback = await fixture.browser().connect(client);
    expect(callback.href.startsWith("http://localhost:51823/callback?code=")).toBe(true);
    const code = callback.searchParams.get("code") ?? "";
    for (const redirect_uri of ["http://localhost/callback", "http://localhost:51824/callback"]) {
      expect((await fixture.redeem(code, { ...client, redirect_uri })).body["error"]).toBe("invalid_grant");
    }
    expect((await fixture.redeem(code, client)).status).toBe(200);
    for (const redirect_uri of ["http://127.0.0.1:51823/callback", "http://[::1]:51823/callback"]) {
      await expectPage(await authorize({ redirect_uri }));
    }
  });

  it("needs no answer of its host at /token and /revoke", async () => {
    const code = await fixture.codeOf(ASK);
    fixture.clock.advance(50);
    host.answer = () => json("", {}, 500);
    const { body } = await fixture.redeem(code, ASK);
    const asked = host.asked.length;
    fixture.clock.advance(400);
    const refreshed = await fixture.refresh(body["refresh_token"], { client_id: ID });
    expect(refreshed.status).toBe(200);
    await fixture.redeem("x", { client_id: "https://client.example/never/seen" });
    expect(host.asked).toHaveLength(asked);
    const other = { client_id: "https://client.example/other" };
    expect((await fixture.refresh(refreshed.body["refresh_token"], other)).body["error"]).toBe("invalid_grant");
  });

  it("uses the supported members of a document for every server", async () => {
    host.answer = () =>
      json({
        ...DOCUMENT,
        redirect_uris: ["cursor://anysphere/callback", "http://192.168.0.1/cb", URI],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code", "none"],
        token_endpoint_auth_method: "none",
        logo_uri: "http://169.254.169.254/logo.png",
        // oxlint-disable-next-line no-script-url
        client_uri: "javascript:alert(1)",
      });
    const { html } = await fixture.browser().ask(ASK);
    expect(html).not.toMatch(/169\.254|javascript|<img|<a |cursor:\/\//);
    await expectPage(await authorize({ redirect_uri: "cursor://anysphere/callback" }));
    await expectPage(await authorize({ redirect_uri: "http://192.168.0.1/cb" }));
  });
});

describe("a document that can be used as a public client's", () => {
  it.each<[what: string, members: object]>([
    [
      "prefers to sign",
      {
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
      },
    ],
    [
      "prefers a secret",
      { token_endpoint_auth_method: "client_secret_basic", token_endpoint_auth_methods_supported: ["none"] },
    ],
    [
      "prefers none",
      { token_endpoint_auth_method: "none", token_endpoint_auth_methods_supported: ["private_key_jwt"] },
    ],
    [
      "has null for what it leaves out",
      { token_endpoint_auth_method: null, grant_types: null, response_types: null, client_secret: null },
    ],
    ["has an empty secret", { client_secret: "" }],
  ])("%s", async (_what, members) => {
    host.answer = () => json({ ...DOCUMENT, ...members });
    expect((await authorize()).status).toBe(200);
  });
});

describe("an id at a host that is not listed", () => {
  it("is a page that names the host and the operator, and a log line with its reason", async () => {
    const html = await expectPage(await authorize({ client_id: "https://b\u00fccher.example/id.json" }));
    expect(html).toContain("client_unknown");
    const page = await expectPage(await authorize({ client_id: "https://xn--bcher-kva.example/id.json" }));
    expect(page).toContain("xn--bcher-kva.example");
    expect(page).toContain("Ask the people who run this server");
    expect(JSON.parse(fixture.lines.at(-1) ?? "{}")).toMatchObject({
      reason: "client_host_not_listed",
      detail: "client_id is at xn--bcher-kva.example",
    });
    expect(host.asked).toEqual([]);
  });
});

it.each([
  ["is http", "http://client.example/oauth/id.json"],
  ["has no path", "https://client.example"],
  ["has the root as its path", "https://client.example/"],
  ["has dot segments", "https://client.example/oauth/../oauth/id.json"],
  ["has escaped dot segments", "https://client.example/oauth/%2e%2e/oauth/id.json"],
  ["has a dot segment", "https://client.example/./oauth/id.json"],
  ["has a user name", "https://user@client.example/oauth/id.json"],
  ["has a password", "https://:pw@client.example/oauth/id.json"],
  ["has a fragment", "https://client.example/oauth/id.json#x"],
  ["has an empty fragment", "https://client.example/oauth/id.json#"],
  ["has a query", "https://client.example/oauth/id.json?x=1"],
  ["has an empty query", "https://client.example/oauth/id.json?"],
  ["has capitals", "https://CLIENT.example/oauth/id.json"],
  ["has the usual port", "https://client.example:443/oauth/id.json"],
  ["has backslashes", "https:\\\\client.example\\oauth\\id.json"],
  ["ends in a dot", "https://client.example./oauth/id.json"],
  ["is of another host", "https://evil.example/oauth/id.json"],
  ["is of a host below", "https://sub.client.example/oauth/id.json"],
  ["is of another port", "https://client.example:444/oauth/id.json"],
  ["is longer than 2000 characters", `https://client.example/${"a".repeat(2000)}`],
  ["has white space", "https://client.example/oauth/id.json "],
])("bar#AS-13 a page without a redirect, for a client_id that %s", async (_what, client_id) => {
  await expectPage(await authorize({ client_id }));
  expect(host.asked).toEqual([]);
});

it.each<[what: string, answer: () => Response | Promise<Response>]>([
  ["names another client_id", () => json({ ...DOCUMENT, client_id: "https://client.example/other" })],
  ["names its client_id in another spelling", () => json({ ...DOCUMENT, client_id: `${ID}/` })],
  ["names none", () => json({ client_name: "x", redirect_uris: [URI] })],
  ["has no name", () => json({ client_id: ID, redirect_uris: [URI] })],
  ["has an empty name", () => json({ ...DOCUMENT, client_name: " " })],
  ["has a name that is not a string", () => json({ ...DOCUMENT, client_name: 1 })],
  ["has no redirect URIs", () => json({ client_id: ID, client_name: "x" })],
  ["has no usable redirect URI", () => json({ ...DOCUMENT, redirect_uris: ["app:/x", "https://a.example/#x"] })],
  ["has redirect URIs that are not strings", () => json({ ...DOCUMENT, redirect_uris: [1] })],
  ["has a secret", () => json({ ...DOCUMENT, client_secret: "s" })],
  ["asks to use a secret", () => json({ ...DOCUMENT, token_endpoint_auth_method: "client_secret_basic" })],
  ["asks to sign", () => json({ ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt" })],
  [
    "can only sign",
    () =>
      json({
        ...DOCUMENT,
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_methods_supported: ["private_key_jwt"],
      }),
  ],
  [
    "lists its methods as a text",
    () =>
      json({
        ...DOCUMENT,
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_methods_supported: "none",
      }),
  ],
  ["cannot do the code flow", () => json({ ...DOCUMENT, grant_types: ["client_credentials"] })],
  ["wants no code", () => json({ ...DOCUMENT, response_types: ["token"] })],
  ["is a list", () => json([DOCUMENT])],
  ["is not JSON", () => json("{")],
  ["has a member twice", () => json(`{"client_id":"x",${JSON.stringify(DOCUMENT).slice(1)}`)],
  ["is HTML", () => json(DOCUMENT, { "content-type": "text/html" })],
  ["is a redirect", () => json("", { location: "https://client.example/other" }, 302)],
  ["is 201", () => json(DOCUMENT, {}, 201)],
  ["is missing", () => json(DOCUMENT, {}, 404)],
  ["is an error that may be kept for a day", () => json(DOCUMENT, { "cache-control": "max-age=86400" }, 500)],
  ["does not come", () => Promise.reject(new Error("canary: no route"))],
])("bar#AS-13 a page, and nothing is kept, for a document that %s", async (_what, answer) => {
  host.answer = answer;
  const html = await expectPage(await authorize());
  expect(html).toContain("invalid_client");
  expect(html).not.toContain("canary");
  host.answer = () => json(DOCUMENT);
  expect((await authorize()).status).toBe(200);
  expect(host.asked).toHaveLength(2);
});

describe("bar#AS-13 how long a document is kept", () => {
  it.each([
    ["a day at most", "max-age=999999999", 86_399, 86_400],
    ["as long as it says", "public, max-age=60", 59, 60],
    ["five minutes where it does not say", "", 299, 300],
  ])("%s", async (_what, cacheControl, still, over) => {
    host.answer = () => json(DOCUMENT, { "cache-control": cacheControl });
    await authorize();
    fixture.clock.advance(still);
    await authorize();
    expect(host.asked).toHaveLength(1);
    fixture.clock.advance(over - still);
    await authorize();
    expect(host.asked).toHaveLength(2);
  });

  it.each(["no-store", "no-cache", "max-age=0", "No-Store, max-age=60"])("not at all: %s", async (cacheControl) => {
    host.answer = () => json(DOCUMENT, { "cache-control": cacheControl });
    await authorize();
    await authorize();
    expect(host.asked).toHaveLength(2);
  });

  it("and at the same time it is fetched once, also where it fails", async () => {
    host.answer = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return json(DOCUMENT, { "cache-control": "no-store" });
    };
    await Promise.all(Array.from({ length: 20 }, () => authorize()));
    expect(host.asked).toHaveLength(1);
    host.answer = () => Promise.reject(new Error("down"));
    await Promise.all(Array.from({ length: 20 }, () => authorize()));
    expect(host.asked).toHaveLength(2);
    host.answer = () => json(DOCUMENT);
    expect((await authorize()).status).toBe(200);
  });
});

describe("bar#AS-9 a document that changes while the user looks at the page", () => {
  it.each([
    ["its name", { client_name: "Another name" }],
    ["its redirect URIs", { redirect_uris: [URI, "https://client.example/second"] }],
  ])("%s: the answer is not taken, and the user is asked again with what is new", async (_what, changed) => {
    host.answer = () => json(DOCUMENT, { "cache-control": "no-store" });
    const browser = fixture.browser();
    const page = await browser.ask(ASK);
    host.answer = () => json({ ...DOCUMENT, ...changed }, { "cache-control": "no-store" });
    expect(await expectPage(await browser.decide(page))).toContain("has changed");
    const again = await browser.ask(ASK);
    if ("client_name" in changed) expect(again.html).toContain("Another name");
    expect((await browser.decide(again)).status).toBe(303);
  });

  it("its redirect URI is gone: the page before, and the callback after, lead nowhere", async () => {
    host.answer = () => json(DOCUMENT, { "cache-control": "no-store" });
    const browser = fixture.browser();
    const page = await browser.ask(ASK);
    const callback = await browser.consent(await browser.approve(ASK));
    host.answer = () => json({ ...DOCUMENT, redirect_uris: ["https://client.example/new"] });
    await expectPage(await browser.decide(page));
    await expectPage(await browser.get(callback));
  });

  it("its host is down at the callback: a page to reload, and nothing is spent", async () => {
    host.answer = () => json(DOCUMENT, { "cache-control": "no-store" });
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve(ASK));
    host.answer = () => Promise.reject(new Error("down"));
    await expectPage(await browser.get(callback));
    host.answer = () => json(DOCUMENT);
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  });

  it("a static client of the same id wins", async () => {
    await using listed = await openStubServerFixture({
      callback: { clients: [{ ...DESK, clientId: ID }], clientMetadataHosts: ["client.example"] },
      fetchDocument: () => Promise.reject(new Error("must not be called")),
    });
    expect((await listed.browser().authorize({ client_id: ID })).status).toBe(200);
    expect((await listed.connect({ client_id: ID })).status).toBe(200);
  });
});
