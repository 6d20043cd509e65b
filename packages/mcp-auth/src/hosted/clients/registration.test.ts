/** Open registration: what is accepted, what is stored, and for how long. */
import { hmac } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../../../oauth-core/src/testing/corpora/redirect-uri-corpus.ts";
import { expectPage, openStubServerFixture } from "../../testing/server-fixture.ts";

const URI = "https://app.example/back";
const DAY = 86_400;

const fixture = shared(() => openStubServerFixture({ callback: { registration: { hosts: [] }, clients: [] } }));

const registered = async (one = fixture, redirectUri = URI): Promise<string> => {
  const { body } = await one.register({ redirect_uris: [redirectUri], client_name: "App" });
  return String(body["client_id"]);
};
const ask = (client_id: string, one = fixture, redirect_uri = URI) =>
  one.browser().authorize({ client_id, redirect_uri });
const connect = (client_id: string) => fixture.connect({ client_id, redirect_uri: URI });

describe("a client that registers", () => {
  it("rfc7591#3.2.1 gets its registered metadata: public, the code flow, and no secret", async () => {
    const answer = await fixture.register({
      redirect_uris: [URI],
      client_name: "App",
      application_type: "web",
      client_id: "desk",
    });
    expect(answer).toEqual({
      status: 201,
      body: {
        client_id: expect.stringMatching(/^dcr_[\w-]{22}$/),
        client_id_issued_at: expect.any(Number),
        client_name: "App",
        redirect_uris: [URI],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    });
  });

  it("connects, and the page says that it is unverified", async () => {
    const client_id = await registered();
    const { html } = await fixture.browser().ask({ client_id, redirect_uri: URI });
    expect(html).toContain("its own registration, which is unverified");
    expect((await connect(client_id)).status).toBe(200);
  });

  it("two with the same metadata are two", async () => {
    expect(await registered()).not.toBe(await registered());
  });
});

describe("rfc7591#3.2.1 replaced, and the answer says so", () => {
  const asRegistered = {
    client_name: "App",
    redirect_uris: [URI],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };

  it.each<[what: string, metadata: object]>([
    ...["client_secret_post", "client_secret_basic", "client_secret_jwt", "private_key_jwt", "tls_client_auth"].map(
      (method): [string, object] => [method, { token_endpoint_auth_method: method }],
    ),
    ["a secret of its own", { client_secret: "s", client_secret_expires_at: 0 }],
    ["an empty secret", { client_secret: "" }],
    [
      "one grant too many",
      { grant_types: ["authorization_code", "implicit", "urn:ietf:params:oauth:grant-type:device_code"] },
    ],
    ["one response type too many", { response_types: ["code", "token", "code id_token"] }],
    ["empty lists", { grant_types: [], response_types: [] }],
    [
      "absent members as null",
      {
        token_endpoint_auth_method: null,
        grant_types: null,
        response_types: null,
        client_secret: null,
        logo_uri: null,
        contacts: null,
      },
    ],
    [
      "private schemes",
      { redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback", URI, "com.example.app:/back", "VSCODE://x/y"] },
    ],
  ])("%s", async (_what, metadata) => {
    const { status, body } = await fixture.register({ redirect_uris: [URI], client_name: "App", ...metadata });
    expect(status).toBe(201);
    expect(body).toMatchObject(asRegistered);
    expect(body).not.toHaveProperty("client_secret");
    expect((await connect(String(body["client_id"]))).status).toBe(200);
  });

  it("a name that is null: it has none", async () => {
    const { body } = await fixture.register({ redirect_uris: [URI], client_name: null });
    expect(body["client_name"]).toBe("An application without a name");
  });

  it("a redirect URI that was left out leads nowhere", async () => {
    const left = "cursor://anysphere.cursor-mcp/oauth/callback";
    const { body } = await fixture.register({ redirect_uris: [left, URI] });
    await expectPage(await ask(String(body["client_id"]), fixture, left));
  });
});

const PRIVATE: ReadonlySet<string> = new Set(["myapp:/back", "com.example.app:/back"]);

describe("bar#AS-11 rfc7591#2 refused", () => {
  it.each<[what: string, metadata: object, error: string]>([
    ["no redirect URIs", {}, "invalid_redirect_uri"],
    ["an empty list", { redirect_uris: [] }, "invalid_redirect_uri"],
    ["one that is not a list", { redirect_uris: URI }, "invalid_redirect_uri"],
    ["an object for a list", { redirect_uris: { 0: URI, length: 1 } }, "invalid_redirect_uri"],
    ["one that is not a string", { redirect_uris: [{}] }, "invalid_redirect_uri"],
    ["a list in a list", { redirect_uris: [[URI]] }, "invalid_redirect_uri"],
    ["100 of them", { redirect_uris: Array.from({ length: 100 }, (_, i) => `${URI}/${i}`) }, "invalid_redirect_uri"],
    ["a good and a bad one", { redirect_uris: [URI, "http://app.example/back"] }, "invalid_redirect_uri"],
    [
      "a method that is not a string",
      { redirect_uris: [URI], token_endpoint_auth_method: 1 },
      "invalid_client_metadata",
    ],
    ["another grant", { redirect_uris: [URI], grant_types: ["password"] }, "invalid_client_metadata"],
    ["grants that are no list", { redirect_uris: [URI], grant_types: "password" }, "invalid_client_metadata"],
    [
      "a grant that is no text",
      { redirect_uris: [URI], grant_types: ["authorization_code", 1] },
      "invalid_client_metadata",
    ],
    ["another response type", { redirect_uris: [URI], response_types: ["token"] }, "invalid_client_metadata"],
    ["a name that is not a string", { redirect_uris: [URI], client_name: {} }, "invalid_client_metadata"],
  ])("%s", async (_what, metadata, error) => {
    expect(await fixture.register(metadata)).toMatchObject({ status: 400, body: { error } });
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "view-source:https://app.example/back",
    "blob:https://app.example/x",
    "file:///etc/passwd",
    "ftp://app.example/back",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "myapp:/back",
    "com.example.app:/back",
    "https://app.example/back#x",
    "http://app.example/back",
    "http://10.0.0.1/back",
    "http://127.0.0.2/back",
    "https://user@app.example/back",
    "//app.example/back",
    "",
  ])("bar#AS-11 the redirect URI %j", async (uri) => {
    const refused = { status: 400, body: { error: "invalid_redirect_uri" } };
    expect(await fixture.register({ redirect_uris: [uri] })).toMatchObject(refused);
    const beside = { redirect_uris: [uri, URI] };
    if (PRIVATE.has(uri)) expect((await fixture.register(beside)).body).toMatchObject({ redirect_uris: [URI] });
    else expect(await fixture.register(beside)).toMatchObject(refused);
  });

  it.each([
    ["a megabyte", JSON.stringify({ redirect_uris: [URI], pad: "x".repeat(1_000_000) }), 413],
    ["what is not JSON", "{", 400],
    ["a list", "[]", 400],
    ["a list for an object", `[{"redirect_uris":["${URI}"]}]`, 400],
    ["a member twice", `{"redirect_uris":["${URI}"],"redirect_uris":["${URI}"]}`, 400],
  ])("bar#AS-11 %s", async (_what, body, status) => {
    const headers = { "content-type": "application/json" };
    expect((await fixture.request("/register", { method: "POST", headers, body })).status).toBe(status);
  });

  it("a form", async () => {
    expect((await fixture.request("/register", { method: "POST", body: new URLSearchParams({ a: "b" }) })).status).toBe(
      415,
    );
  });

  it("bar#AS-1 what nearly is a registered redirect URI, for such a client too", async () => {
    const client_id = await registered();
    for (const { uri, name } of redirectUriNearMisses(URI).filter((_, index) => index % 5 === 0)) {
      const answer = await ask(client_id, fixture, uri);
      expect([answer.status, answer.headers.get("location")], name).toEqual([400, null]);
    }
  });
});

describe("bar#AS-12 what is stored stays bounded", () => {
  it("the 10,001st unused client ends the oldest, none in use, and is not locked out (#11)", async () => {
    const used = await registered();
    await connect(used);
    const oldest = await registered();
    // As if 9,998 others had come after it.
    const ring = await fixture.serverKey.derive("client-slots");
    const key = { kind: "client-slots", id: hmac("sha256", ring, "next").toString("base64url") } as const;
    const { stage = "", data } = (await fixture.records.get(key)) ?? {};
    const next = data?.["next"] as string;
    const patch = { stage, set: { next: String(Number(next) + 9_998) } };
    expect(await fixture.records.advance(key, { stage, expect: { next } }, patch)).toMatchObject({ outcome: "moved" });
    await registered();
    expect((await ask(oldest)).status).toBe(200);
    const newest = await registered();
    await expectPage(await ask(oldest));
    expect((await ask(used)).status).toBe(200);
    expect((await connect(newest)).status).toBe(200);
  });

  it("one without a user's consent is deleted after a day, page shown or not", async () => {
    const client_id = await registered();
    expect((await ask(client_id)).status).toBe(200);
    fixture.clock.advance(DAY - 1);
    expect((await fixture.redeem("junk", { client_id, redirect_uri: URI })).body["error"]).toBe("invalid_grant");
    fixture.clock.advance(1);
    const page = await expectPage(await ask(client_id));
    expect(page).toMatch(/remove it there and add it again/);
    expect(page).not.toContain("Close this page and start again");
    const line = JSON.parse(fixture.lines.at(-1) ?? "{}") as Record<string, unknown>;
    expect(line).toMatchObject({ reason: "client_unknown", detail: `client_id ${client_id}` });
    expect((await fixture.redeem("junk", { client_id, redirect_uri: URI })).body["error"]).toBe("invalid_client");
  });

  it("one that is used lives for ninety days from its last use", async () => {
    const client_id = await registered();
    let { body } = await connect(client_id);
    for (let month = 0; month < 5; month += 1) {
      fixture.clock.advance(29 * DAY);
      const refreshed = await fixture.refresh(body["refresh_token"], { client_id });
      expect(refreshed.status, `month ${month}`).toBe(200);
      body = refreshed.body;
    }
    fixture.clock.advance(89 * DAY);
    expect((await ask(client_id)).status).toBe(200);
    fixture.clock.advance(DAY);
    await expectPage(await ask(client_id));
  });
});

describe("what the operator permits", () => {
  it("is hosts, and loopback for programs on a device", async () => {
    await using limited = await openStubServerFixture({ callback: { registration: { hosts: ["app.example"] } } });
    for (const uri of [URI, "http://127.0.0.1/cb", "http://[::1]:99/cb", "http://localhost:1/cb"])
      expect((await limited.register({ redirect_uris: [uri] })).status, uri).toBe(201);
    for (const uri of [
      "https://evil.example/",
      "https://sub.app.example/",
      "https://app.example:8443/",
      "https://localhost/",
    ])
      expect(await limited.register({ redirect_uris: [URI, uri] }), uri).toMatchObject({
        status: 400,
        body: { error: "invalid_redirect_uri" },
      });
  });

  it("applies to earlier clients too: narrowed hosts, and registration that is off", async () => {
    const client_id = await registered();
    const { table } = fixture;
    await using narrowed = await openStubServerFixture({
      records: () => table,
      callback: { registration: { hosts: ["other.example"] } },
    });
    await using closed = await openStubServerFixture({ records: () => table });
    expect((await ask(client_id)).status).toBe(200);
    for (const later of [narrowed, closed]) await expectPage(await ask(client_id, later));
    expect((await closed.redeem("x", { client_id })).body["error"]).toBe("invalid_client");
    expect((await closed.register({ redirect_uris: [URI] })).status).toBe(404);
  });
});
