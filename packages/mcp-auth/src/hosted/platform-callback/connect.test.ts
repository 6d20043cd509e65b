import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { driveConsent } from "@oauth-broker/simulators";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { CALLBACK, openOpenIdFixture, SCOPES, SERVER } from "../../testing/hosted-fixture.ts";

const fixture = shared(openOpenIdFixture);

describe("a stock MCP client as the platform", () => {
  it("finds, registers, connects, calls and refreshes, and the vendor's tokens stay here", async () => {
    const fetchFn = async (url: string | URL, init?: RequestInit) => fixture.request(new URL(url).pathname, init);
    const resource = await discoverOAuthProtectedResourceMetadata(`${SERVER}/mcp`, {}, fetchFn);
    expect(resource).toMatchObject({ resource: `${SERVER}/mcp`, authorization_servers: [SERVER] });
    const metadata = await discoverAuthorizationServerMetadata(SERVER, { fetchFn });
    if (metadata === undefined) throw new Error("no metadata");
    const clientInformation = await registerClient(SERVER, {
      metadata,
      clientMetadata: { redirect_uris: [CALLBACK], client_name: "The platform" },
      fetchFn,
    });
    expect(clientInformation).toMatchObject({ client_id: "platform", token_endpoint_auth_method: "none" });
    const { authorizationUrl, codeVerifier } = await startAuthorization(SERVER, {
      metadata,
      clientInformation,
      redirectUrl: CALLBACK,
      scope: SCOPES.join(" "),
      state: "of the platform",
      resource: resource.resource,
    });
    const left = await fixture.request(authorizationUrl.pathname + authorizationUrl.search);
    const callback = await driveConsent(left.headers.get("location") ?? "", {
      stopAt: (url) => url.href.startsWith(CALLBACK),
    });
    expect(callback.searchParams.get("state")).toBe("of the platform");
    const tokens = await exchangeAuthorization(SERVER, {
      metadata,
      clientInformation,
      authorizationCode: callback.searchParams.get("code") ?? "",
      codeVerifier,
      redirectUri: CALLBACK,
      resource: resource.resource,
      fetchFn,
    });
    const caller = await fixture.authenticate(tokens.access_token);
    expect(caller).toMatchObject({ user: "user", clientId: "platform", scope: SCOPES });
    const vendorToken = (await caller?.vendorToken())?.accessToken.reveal() ?? "";
    const me = await fetch(`${fixture.provider.issuer}/me`, { headers: { authorization: `Bearer ${vendorToken}` } });
    expect(await me.json()).toMatchObject({ sub: "user" });
    expect(JSON.stringify(tokens)).not.toContain(vendorToken);

    const refreshToken = tokens.refresh_token ?? "";
    const next = await refreshAuthorization(SERVER, { metadata, clientInformation, refreshToken, fetchFn });
    expect(await fixture.authenticate(next.access_token)).toMatchObject({ user: "user" });
    expect(fixture.lines.join("")).not.toMatch(new RegExp([vendorToken, refreshToken, codeVerifier].join("|")));
  });
});
