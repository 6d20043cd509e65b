/** The server's own callback at vendors of other kinds: without OpenID, and with live metadata. */
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { atEndpoints } from "@oauth-broker/simulators/fixtures";
import { startGitHub } from "@oauth-broker/simulators/vendors";
import { expect, it } from "vitest";
import { CREDENTIALS, SERVER } from "../../testing/hosted-fixture.ts";
import { openServerFixture, STATE } from "../../testing/server-fixture.ts";

it("bar#AS-22 GitHub: a user connects, and one who cancels is access_denied", async () => {
  const github = await startGitHub();
  const entry = REGISTRY.get("github")?.vendor;
  if (entry === undefined) throw new Error("no entry");
  const fixture = openServerFixture({ vendor: atEndpoints(entry, github.endpoints), scopes: ["read:user"] });
  try {
    const { clientId, clientSecret } = CREDENTIALS;
    github.addClient({ clientId, clientSecret: clientSecret?.reveal() ?? "", redirectUris: [`${SERVER}/callback`] });
    const { status, body } = await fixture.connect();
    expect(status).toBe(200);
    const caller = await fixture.authenticate(body["access_token"] ?? "");
    expect(caller).toMatchObject({ user: "1", clientId: "desk", scope: ["read:user"] });
    expect(github.isLive((await caller?.vendorToken())?.accessToken.reveal() ?? "")).toBe(true);

    const browser = fixture.browser();
    const refused = await browser.finish(await browser.consent(await browser.approve(), { decision: "cancel" }));
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: "access_denied",
      state: STATE,
      iss: SERVER,
    });
  } finally {
    await fixture.close();
    await github.close();
  }
});
