import { BrokerClientError, type Tokens } from "@oauth-broker/broker-client";
import { type Fetch, OAuthError, Secret } from "@oauth-broker/oauth-core";
import {
  driveConsent,
  type DriveConsentOptions,
  type OpenIdProvider,
  startOpenIdProvider,
} from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connector } from "../connectors/connector.ts";
import type { SettingsChange } from "../connectors/store.ts";
import { failureNotice } from "../pages/status.ts";
import { openTestConnect, REDIRECT_URI, signedIn, type TestConnect } from "../testing/test-connect.ts";
import { createBearers } from "./bearer.ts";
import { clientOfConnector } from "./client-of-connector.ts";
import { describeFailure, finishConnect, type Finished, startConnect } from "./connect.ts";
import { disconnect } from "./disconnect.ts";

let provider: OpenIdProvider;
let platform: TestConnect;
let settings: SettingsChange;
const first = signedIn("first-user");
const second = signedIn("second-user");
let made = 0;

beforeAll(async () => {
  const clients = ["ours", "other"].map((clientId) => ({
    clientId,
    clientSecret: `secret-of-${clientId}-canary`,
    redirectUris: [REDIRECT_URI],
  }));
  provider = await startOpenIdProvider({ clients });
  platform = await openTestConnect();
  settings = {
    authentication: "oauth_2_1",
    registration: "pre_registered_client",
    clientId: "ours",
    clientSecret: new Secret("secret-of-ours-canary"),
    vendorOrIssuer: provider.issuer,
    scopes: "openid profile offline_access",
  };
});
afterAll(async () => {
  await platform.close();
  await provider.close();
});

async function addConnector(over: SettingsChange = {}): Promise<Connector> {
  made += 1;
  return platform.addConnector(`connector-${made}`, { ...settings, ...over });
}

async function goToVendor(
  connector: Connector,
  by = first,
  options: Partial<DriveConsentOptions> = {},
): Promise<string> {
  const url = await startConnect(connector, by, platform);
  return (await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI), ...options })).href;
}

async function connect(
  connector: Connector,
  by = first,
  options: Partial<DriveConsentOptions> = {},
): Promise<Finished> {
  return finishConnect(await goToVendor(connector, by, options), by, platform);
}

function createBearer() {
  return createBearers({ ...platform, platformToken: (id) => platform.connectors.platformToken(id) });
}

describe("a pre-registered client", () => {
  it("connects a user, and only that one", async () => {
    const connector = await addConnector();
    expect(await connect(connector)).toEqual({ connectorId: connector.id });
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({ state: "connected" });
    expect(await platform.connections.status(connector, second.user.id)).toEqual({ state: "none" });
    const { token } = await createBearer().bearerFor(connector, first.user.id);
    expect(token.length).toBeGreaterThan(10);
    await expect(createBearer().bearerFor(connector, second.user.id)).rejects.toMatchObject({
      extras: { reason: "not_connected" },
    });
  });

  it("mcp-2026-07-28/authorization#scope-challenge-handling adds to the granted scope, once", async () => {
    const connector = await addConnector({ scopes: "" });
    const tokens = { accessToken: "first", tokenType: "Bearer", scope: "openid", connection: "c", vendor: "v" };
    await platform.connections.save(connector, first.user.id, { ...tokens, vendorData: {} });
    const bearers = createBearer();
    const bearer = await bearers.bearerFor(connector, first.user.id);
    const tooLittle = (scope?: string) => bearers.stepUp(connector, first.user.id, bearer, scope);
    for (const had of ["openid", undefined]) {
      // oxlint-disable-next-line no-await-in-loop
      await expect(tooLittle(had)).rejects.toMatchObject({ extras: { reason: "scope_refused" } });
    }
    await expect(tooLittle("profile")).rejects.toMatchObject({ extras: { reason: "insufficient_scope" } });
    const url = new URL(await startConnect(connector, first, platform));
    expect(url.searchParams.get("scope")).toBe("openid profile");
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({
      state: "connected",
      wantedScope: "profile",
    });
    // Its other calls still work.
    expect((await bearers.bearerFor(connector, first.user.id)).token).toBe(bearer.token);
    await connect(connector);
    const { wantedScope, scope } = await platform.connections.status(connector, first.user.id);
    expect([wantedScope, scope]).toEqual([undefined, "openid profile"]);
  });

  it("asks users for no scope beyond those an administrator entered", async () => {
    const connector = await addConnector({ scopes: "openid" });
    await connect(connector);
    const bearers = createBearer();
    const bearer = await bearers.bearerFor(connector, first.user.id);
    await expect(bearers.stepUp(connector, first.user.id, bearer, "openid profile")).rejects.toMatchObject({
      extras: { reason: "scope_not_allowed" },
    });
    // The scope wanted before the administrator restricted it is not requested either.
    await platform.connections.wantScope(connector, first.user.id, "profile", bearer.revision ?? "");
    const url = new URL(await startConnect(connector, first, platform));
    expect(url.searchParams.get("scope")).toBe("openid");
  });

  it("keeps tokens, secret and verifier sealed in the data folder", async () => {
    const connector = await addConnector();
    const back = await goToVendor(connector);
    const text = platform.folderText();
    for (const open of ["secret-of-ours-canary", "codeVerifier"]) expect(text).not.toContain(open);
    expect(text).toContain(connector.id);
    await finishConnect(back, first, platform);
    const open = await platform.connections.open(connector, first.user.id);
    const { accessToken = "", refreshToken = "" } = open?.tokens ?? {};
    expect(accessToken).not.toBe("");
    expect(refreshToken).not.toBe("");
    for (const token of [accessToken, refreshToken]) expect(platform.folderText()).not.toContain(token);
  });

  it("finds its URLs at the issuer, or takes those that were entered", async () => {
    const discovered = await startConnect(await addConnector(), first, platform);
    const { origin, pathname } = new URL(discovered);
    const entered = await addConnector({
      vendorOrIssuer: "",
      authorizationUrl: `${origin}/{path}`,
      tokenUrl: `${origin}/token`,
      placeholders: { path: pathname.slice(1) },
      scopes: "profile",
    });
    const url = new URL(await startConnect(entered, first, platform));
    expect(url.origin + url.pathname).toBe(origin + pathname);
    expect(url.searchParams.get("redirect_uri")).toBe(REDIRECT_URI);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
  });

  it("reports a cancel by its standardized code until the next attempt", async () => {
    const connector = await addConnector();
    const { failure } = await connect(connector, first, { decision: "cancel" });
    expect(failure).toMatchObject({ error: "access_denied" });
    expect(await platform.connections.status(connector, first.user.id)).toEqual({ state: "none", failure });
    await connect(connector);
    expect((await platform.connections.status(connector, first.user.id)).failure).toBeUndefined();
  });

  it("bar#XA-11 leaves the connection there is alone when another attempt fails", async () => {
    const connector = await addConnector();
    await connect(connector);
    await connect(connector, first, { decision: "cancel" });
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({
      state: "connected",
      failure: { error: "access_denied" },
    });
  });
});

describe("the answer to a flow", () => {
  it("rfc9700#4.7.1 bar#XA-7 is taken in the browser session that started it, once", async () => {
    const connector = await addConnector();
    const back = await goToVendor(connector);
    await expect(finishConnect(back, second, platform)).rejects.toMatchObject({ extras: { reason: "state_mismatch" } });
    // The other browser spent nothing.
    expect(await finishConnect(back, first, platform)).toEqual({ connectorId: connector.id });
    await expect(finishConnect(back, first, platform)).rejects.toMatchObject({ extras: { reason: "state_replayed" } });
    expect(await platform.connections.status(connector, second.user.id)).toEqual({ state: "none" });
  });

  it("may come in any order where one user has several tabs", async () => {
    const [one, other] = [await addConnector(), await addConnector()];
    const back1 = await goToVendor(one);
    const back2 = await goToVendor(other);
    const again = await goToVendor(one);
    for (const back of [again, back2, back1])
      expect((await finishConnect(back, first, platform)).failure).toBeUndefined();
    expect(await platform.connections.status(other, first.user.id)).toMatchObject({ state: "connected" });
  });

  it.each(["", "?code=x", "?code=x&state=", "?code=x&state=a&state=b"])("requires one state: %j", async (query) => {
    await expect(finishConnect(REDIRECT_URI + query, first, platform)).rejects.toMatchObject({
      extras: { reason: "state_missing" },
    });
  });

  it("fails when the settings changed meanwhile", async () => {
    const connector = await addConnector();
    const back = await goToVendor(connector);
    await platform.connectors.changeSettings(connector.id, {
      clientId: "other",
      clientSecret: new Secret("secret-of-other-canary"),
    });
    expect((await finishConnect(back, first, platform)).failure).toMatchObject({ error: "invalid_grant" });
  });
});

describe("a connection", () => {
  it("is to be authorized again once the connector has another client", async () => {
    const connector = await addConnector();
    await connect(connector);
    const changed = await platform.connectors.changeSettings(connector.id, {
      clientId: "other",
      clientSecret: new Secret("secret-of-other-canary"),
    });
    expect(await platform.connections.status(changed, first.user.id)).toMatchObject({
      state: "reauthorize",
      reason: "credentials_changed",
    });
    await expect(createBearer().bearerFor(changed, first.user.id)).rejects.toMatchObject({ code: "invalid_grant" });
    await connect(changed);
    expect(await platform.connections.status(changed, first.user.id)).toMatchObject({ state: "connected" });
  });

  it("is refreshed before its token ends, once for callers at the same time", async () => {
    const connector = await addConnector();
    await connect(connector);
    const bearers = createBearer();
    const before = await bearers.bearerFor(connector, first.user.id);
    expect(await bearers.bearerFor(connector, first.user.id)).toEqual(before);
    platform.advance(3600);
    const after = await Promise.all([1, 2, 3].map(() => bearers.bearerFor(connector, first.user.id)));
    expect(after[0]?.token).not.toBe(before.token);
    expect(new Set(after.map(({ token }) => token)).size).toBe(1);
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({ state: "connected" });
  });

  it("is tried with another token when the server refuses one, and ends when it refuses that too", async () => {
    const connector = await addConnector();
    await connect(connector);
    const bearers = createBearer();
    const refused = await bearers.bearerFor(connector, first.user.id);
    const another = await bearers.bearerFor(connector, first.user.id, refused);
    expect(another.token).not.toBe(refused.token);
    // A refusal of an older token does not end a newer connection.
    await expect(bearers.giveUp(connector, first.user.id, refused)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({ state: "connected" });
    await expect(bearers.giveUp(connector, first.user.id, another)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await platform.connections.status(connector, first.user.id)).toMatchObject({
      state: "reauthorize",
      reason: "refused_by_server",
    });
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
    const connector = await addConnector();
    await connect(connector);
    const open = await platform.connections.open(connector, first.user.id);
    expect(await disconnect(connector, first.user.id, platform)).toEqual({ tokens: "revoked" });
    expect(await disconnect(connector, first.user.id, platform)).toEqual({ tokens: "none" });
    expect(await platform.connections.status(connector, first.user.id)).toEqual({ state: "none" });
    await platform.connections.save(connector, first.user.id, open?.tokens ?? expect.fail("no tokens"));
    await expect(
      createBearer().bearerFor(connector, first.user.id, {
        token: "x",
        revision: (await platform.connections.open(connector, first.user.id))?.revision ?? "",
      }),
    ).rejects.toMatchObject({ code: "invalid_grant" });
  });
});

describe("tokens that cannot be stored", () => {
  it("are revoked", async () => {
    const connector = await addConnector();
    let issued: Tokens | undefined;
    const save: TestConnect["connections"]["save"] = async (_connector, _user, tokens) => {
      issued = tokens;
      throw new OAuthError("temporarily_unavailable", "The record store does not respond");
    };
    const url = await goToVendor(connector);
    const connections = { ...platform.connections, save };
    expect(await finishConnect(url, first, { ...platform, connections })).toMatchObject({
      failure: { error: "temporarily_unavailable" },
    });
    const client = await clientOfConnector(connector, platform);
    expect(await client.refresh(issued ?? expect.fail("no tokens"))).toMatchObject({ outcome: "reauthorize" });
  });
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
    const connector = await addConnector({ vendorOrIssuer: "gitlab", scopes: "read_user", ...urls });
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

describe("a connector that cannot be connected", () => {
  it("says why", async () => {
    const reasonOf = async (connector: Connector): Promise<unknown> =>
      startConnect(connector, first, platform).catch((error: { extras?: { reason?: string } }) => error.extras?.reason);
    const draft = await platform.connectors.create({ id: "a-draft", name: "Draft", settings });
    expect(await reasonOf(draft)).toBe("not_deployed");
    expect(await reasonOf({ ...(await addConnector()), state: "draft" })).toBe("draft");
    expect(await reasonOf(await addConnector({ clientId: "", clientSecret: null }))).toBe("client_missing");
    expect(await reasonOf(await addConnector({ vendorOrIssuer: "" }))).toBe("endpoints_missing");
    expect(await reasonOf(await addConnector({ registration: "broker" }))).toBe("broker_missing");
    const none = await platform.addConnector("wants-none", { authentication: "none", registration: "none" });
    expect(await reasonOf(none)).toBe("nothing_to_connect");
    expect((await createBearer().bearerFor(none, first.user.id)).token).toBe(
      (await platform.connectors.platformToken(none.id)).reveal(),
    );
  });
});
