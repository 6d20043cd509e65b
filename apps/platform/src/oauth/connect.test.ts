import { BrokerClientError, type Tokens } from "@oauth-broker/broker-client";
import { type Fetch, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Connector } from "../connectors/connector.ts";
import { failureNotice } from "../pages/status.ts";
import { REDIRECT_URI } from "../testing/test-connect.ts";
import { FIRST, openVendorConnect, SECOND, type VendorConnect } from "../testing/vendor-connect.ts";
import { clientOfConnector } from "./client-of-connector.ts";
import { describeFailure, finishConnect, startConnect } from "./connect.ts";
import { disconnect } from "./disconnect.ts";

const OTHER_CLIENT = { clientId: "other", clientSecret: new Secret("secret-of-other-canary") };
const platform = shared(openVendorConnect);

describe("a pre-registered client", () => {
  it("connects a user, and only that one", async () => {
    const connector = await platform.newConnector();
    expect(await platform.connect(connector)).toEqual({ connectorId: connector.id });
    expect(await platform.statusOf(connector)).toMatchObject({ state: "connected" });
    expect(await platform.statusOf(connector, SECOND)).toEqual({ state: "none" });
    const { token } = await platform.bearers().bearerFor(connector, FIRST.user.id);
    expect(token.length).toBeGreaterThan(10);
    await expect(platform.bearers().bearerFor(connector, SECOND.user.id)).rejects.toMatchObject({
      extras: { reason: "not_connected" },
    });
  });

  it("mcp-2026-07-28/authorization#scope-challenge-handling adds to the granted scope, once", async () => {
    const connector = await platform.newConnector({ scopes: "" });
    const tokens = { accessToken: "first", tokenType: "Bearer", scope: "openid", connection: "c", vendor: "v" };
    await platform.connections.save(connector, FIRST.user.id, { ...tokens, vendorData: {} });
    const bearers = platform.bearers();
    const bearer = await bearers.bearerFor(connector, FIRST.user.id);
    const tooLittle = (scope?: string) => bearers.stepUp(connector, FIRST.user.id, bearer, scope);
    for (const had of ["openid", undefined]) {
      // oxlint-disable-next-line no-await-in-loop
      await expect(tooLittle(had)).rejects.toMatchObject({ extras: { reason: "scope_refused" } });
    }
    await expect(tooLittle("profile")).rejects.toMatchObject({ extras: { reason: "insufficient_scope" } });
    const url = new URL(await startConnect(connector, FIRST, platform));
    expect(url.searchParams.get("scope")).toBe("openid profile");
    expect(await platform.statusOf(connector)).toMatchObject({ state: "connected", wantedScope: "profile" });
    // Its other calls still work.
    expect((await bearers.bearerFor(connector, FIRST.user.id)).token).toBe(bearer.token);
    await platform.connect(connector);
    const { wantedScope, scope } = await platform.statusOf(connector);
    expect([wantedScope, scope]).toEqual([undefined, "openid profile"]);
  });

  it("asks users for no scope beyond those an administrator entered", async () => {
    const connector = await platform.newConnector({ scopes: "openid" });
    await platform.connect(connector);
    const bearers = platform.bearers();
    const bearer = await bearers.bearerFor(connector, FIRST.user.id);
    await expect(bearers.stepUp(connector, FIRST.user.id, bearer, "openid profile")).rejects.toMatchObject({
      extras: { reason: "scope_not_allowed" },
    });
    // The scope wanted before the administrator restricted it is not requested either.
    await platform.connections.wantScope(connector, FIRST.user.id, "profile", bearer.revision ?? "");
    const url = new URL(await startConnect(connector, FIRST, platform));
    expect(url.searchParams.get("scope")).toBe("openid");
  });

  it("keeps tokens, secret and verifier sealed in the data folder", async () => {
    const connector = await platform.newConnector();
    const back = await platform.goToVendor(connector);
    const text = platform.folderText();
    for (const open of ["secret-of-ours-canary", "codeVerifier"]) expect(text).not.toContain(open);
    expect(text).toContain(connector.id);
    await finishConnect(back, FIRST, platform);
    const open = await platform.connections.open(connector, FIRST.user.id);
    const { accessToken = "", refreshToken = "" } = open?.tokens ?? {};
    expect(accessToken).not.toBe("");
    expect(refreshToken).not.toBe("");
    for (const token of [accessToken, refreshToken]) expect(platform.folderText()).not.toContain(token);
  });

  it("finds its URLs at the issuer, or takes those that were entered", async () => {
    const discovered = await startConnect(await platform.newConnector(), FIRST, platform);
    const { origin, pathname } = new URL(discovered);
    const { vendorOrIssuer: issuer = "" } = (await platform.newConnector()).settings;
    const template = { vendorOrIssuer: issuer.replace("127", "{first}"), placeholders: { first: "127" } };
    expect(await startConnect(await platform.newConnector(template), FIRST, platform)).toContain(origin + pathname);
    const entered = await platform.newConnector({
      vendorOrIssuer: "",
      authorizationUrl: `${origin}/{path}`,
      tokenUrl: `${origin}/token`,
      placeholders: { path: pathname.slice(1) },
      scopes: "profile",
    });
    const url = new URL(await startConnect(entered, FIRST, platform));
    expect(url.origin + url.pathname).toBe(origin + pathname);
    expect(url.searchParams.get("redirect_uri")).toBe(REDIRECT_URI);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
  });

  it("reports a cancel by its standardized code until the next attempt", async () => {
    const connector = await platform.newConnector();
    const { failure } = await platform.connect(connector, FIRST, { decision: "cancel" });
    expect(failure).toMatchObject({ error: "access_denied" });
    expect(await platform.statusOf(connector)).toEqual({ state: "none", failure });
    await platform.connect(connector);
    expect((await platform.statusOf(connector)).failure).toBeUndefined();
  });

  it("bar#XA-11 leaves the connection there is alone when another attempt fails", async () => {
    const connector = await platform.newConnector();
    await platform.connect(connector);
    await platform.connect(connector, FIRST, { decision: "cancel" });
    expect(await platform.statusOf(connector)).toMatchObject({
      state: "connected",
      failure: { error: "access_denied" },
    });
  });
});

describe("the answer to a flow", () => {
  it("rfc9700#4.7.1 bar#XA-7 is taken in the browser session that started it, once", async () => {
    const connector = await platform.newConnector();
    const back = await platform.goToVendor(connector);
    await expect(finishConnect(back, SECOND, platform)).rejects.toMatchObject({ extras: { reason: "state_mismatch" } });
    // The other browser spent nothing.
    expect(await finishConnect(back, FIRST, platform)).toEqual({ connectorId: connector.id });
    await expect(finishConnect(back, FIRST, platform)).rejects.toMatchObject({ extras: { reason: "state_replayed" } });
    expect(await platform.statusOf(connector, SECOND)).toEqual({ state: "none" });
  });

  it("may come in any order where one user has several tabs", async () => {
    const [one, other] = [await platform.newConnector(), await platform.newConnector()];
    const back1 = await platform.goToVendor(one);
    const back2 = await platform.goToVendor(other);
    const again = await platform.goToVendor(one);
    for (const back of [again, back2, back1])
      expect((await finishConnect(back, FIRST, platform)).failure).toBeUndefined();
    expect(await platform.statusOf(other)).toMatchObject({ state: "connected" });
  });

  it.each(["", "?code=x", "?code=x&state=", "?code=x&state=a&state=b"])("requires one state: %j", async (query) => {
    await expect(finishConnect(REDIRECT_URI + query, FIRST, platform)).rejects.toMatchObject({
      extras: { reason: "state_missing" },
    });
  });

  it("fails when the settings changed meanwhile", async () => {
    const connector = await platform.newConnector();
    const back = await platform.goToVendor(connector);
    await platform.connectors.changeSettings(connector.id, OTHER_CLIENT);
    expect((await finishConnect(back, FIRST, platform)).failure).toMatchObject({ error: "invalid_grant" });
  });
});

describe("a connection", () => {
  it("is to be authorized again once the connector has another client", async () => {
    const connector = await platform.newConnector();
    await platform.connect(connector);
    const changed = await platform.connectors.changeSettings(connector.id, OTHER_CLIENT);
    expect(await platform.statusOf(changed)).toMatchObject({ state: "reauthorize", reason: "credentials_changed" });
    await expect(platform.bearers().bearerFor(changed, FIRST.user.id)).rejects.toMatchObject({ code: "invalid_grant" });
    await platform.connect(changed);
    expect(await platform.statusOf(changed)).toMatchObject({ state: "connected" });
  });

  it("is refreshed before its token ends, once for callers at the same time", async () => {
    const connector = await platform.newConnector();
    await platform.connect(connector);
    const bearers = platform.bearers();
    const before = await bearers.bearerFor(connector, FIRST.user.id);
    expect(await bearers.bearerFor(connector, FIRST.user.id)).toEqual(before);
    platform.advance(3600);
    const after = await Promise.all([1, 2, 3].map(() => bearers.bearerFor(connector, FIRST.user.id)));
    expect(after[0]?.token).not.toBe(before.token);
    expect(new Set(after.map(({ token }) => token)).size).toBe(1);
    expect(await platform.statusOf(connector)).toMatchObject({ state: "connected" });
  });

  it("is tried with another token when the server refuses one, and ends when it refuses that too", async () => {
    const connector = await platform.newConnector();
    await platform.connect(connector);
    const bearers = platform.bearers();
    const refused = await bearers.bearerFor(connector, FIRST.user.id);
    const another = await bearers.bearerFor(connector, FIRST.user.id, refused);
    expect(another.token).not.toBe(refused.token);
    // A refusal of an older token does not end a newer connection.
    await expect(bearers.giveUp(connector, FIRST.user.id, refused)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await platform.statusOf(connector)).toMatchObject({ state: "connected" });
    await expect(bearers.giveUp(connector, FIRST.user.id, another)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await platform.statusOf(connector)).toMatchObject({ state: "reauthorize", reason: "refused_by_server" });
  });

  it("is not said to be cancelled where the vendor gives another reason", () => {
    const description = "An administrator must assign the user first";
    const reason = "user_not_assigned";
    const failure = { error: "access_denied", description, reason };
    expect(describeFailure(new OAuthError("access_denied", description, { reason }))).toEqual(failure);
    expect(describeFailure(new BrokerClientError("access_denied", description, { reason }))).toEqual(failure);
    const text = failureNotice({ ...failure, at: 0 }).toString();
    expect(text).toContain(`${description}.`);
    expect(text).not.toContain("You cancelled");
  });

  it("is revoked and forgotten when the user disconnects", async () => {
    const connector = await platform.newConnector();
    await platform.connect(connector);
    const open = await platform.connections.open(connector, FIRST.user.id);
    expect(await disconnect(connector, FIRST.user.id, platform)).toEqual({ tokens: "revoked" });
    expect(await disconnect(connector, FIRST.user.id, platform)).toEqual({ tokens: "none" });
    expect(await platform.statusOf(connector)).toEqual({ state: "none" });
    await platform.connections.save(connector, FIRST.user.id, open?.tokens ?? expect.fail("no tokens"));
    await expect(
      platform.bearers().bearerFor(connector, FIRST.user.id, {
        token: "x",
        revision: (await platform.connections.open(connector, FIRST.user.id))?.revision ?? "",
      }),
    ).rejects.toMatchObject({ code: "invalid_grant" });
  });
});

it("tokens that cannot be stored are revoked", async () => {
  const connector = await platform.newConnector();
  let issued: Tokens | undefined;
  const save: VendorConnect["connections"]["save"] = async (_connector, _user, tokens) => {
    issued = tokens;
    throw new OAuthError("temporarily_unavailable", "The record store does not respond");
  };
  const url = await platform.goToVendor(connector);
  const connections = { ...platform.connections, save };
  expect(await finishConnect(url, FIRST, { ...platform, connections })).toMatchObject({
    failure: { error: "temporarily_unavailable" },
  });
  const client = await clientOfConnector(connector, platform);
  expect(await client.refresh(issued ?? expect.fail("no tokens"))).toMatchObject({ outcome: "reauthorize" });
});

describe("a vendor of the registry, at the administrator's own URLs", () => {
  /** What is asked from the vendor's answer to the end of the connection. */
  const askedAt = async (host: string): Promise<string[]> => {
    const asked: string[] = [];
    const fetch: Fetch = async (input) => {
      asked.push(String(input));
      return Response.json({ access_token: "at-canary", token_type: "bearer", refresh_token: "rt-canary" });
    };
    const urls = { authorizationUrl: `https://${host}/oauth/authorize`, tokenUrl: `https://${host}/oauth/token` };
    const connector = await platform.newConnector({ vendorOrIssuer: "gitlab", scopes: "read_user", ...urls });
    const client = await clientOfConnector(connector, { ...platform, fetch });
    const { session } = await client.start();
    const tokens = await client.finish(`${REDIRECT_URI}?code=abc&state=${session.state}`, session);
    await client.revoke(tokens);
    return [...new Set(asked)];
  };

  it("bar#BY-4 sends no token of theirs to the vendor's endpoints", async () => {
    const host = "gitlab.example.com";
    expect(await askedAt(host)).toEqual([`https://${host}/oauth/token`]);
  });

  it("still revokes at the vendor where they are the vendor's own", async () => {
    expect(await askedAt("eu.gitlab.com")).toContain("https://gitlab.com/oauth/revoke");
  });
});

it("a connector that cannot be connected says why", async () => {
  const reasonOf = async (connector: Connector): Promise<unknown> =>
    startConnect(connector, FIRST, platform).catch((error: { extras?: { reason?: string } }) => error.extras?.reason);
  const draft = await platform.connectors.create({ id: "a-draft", name: "Draft", settings: platform.settings });
  expect(await reasonOf(draft)).toBe("not_deployed");
  expect(await reasonOf({ ...(await platform.newConnector()), state: "draft" })).toBe("draft");
  expect(await reasonOf(await platform.newConnector({ clientId: "", clientSecret: null }))).toBe("client_missing");
  expect(await reasonOf(await platform.newConnector({ vendorOrIssuer: "" }))).toBe("endpoints_missing");
  expect(await reasonOf(await platform.newConnector({ registration: "broker" }))).toBe("broker_missing");
  const none = await platform.addConnector("wants-none", { authentication: "none", registration: "none" });
  expect(await reasonOf(none)).toBe("nothing_to_connect");
  expect((await platform.bearers().bearerFor(none, FIRST.user.id)).token).toBe(
    (await platform.connectors.platformToken(none.id)).reveal(),
  );
});
