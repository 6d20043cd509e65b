/**
 * Twin of connect.test.ts: a session that owns another session's flow, which the check of the owner
 * rules out, finishes it and keeps the tokens.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { driveConsent, startOpenIdProvider } from "@oauth-broker/simulators";
import { expect, it } from "vitest";
import { openTestConnect, REDIRECT_URI, signedIn } from "../testing/test-connect.ts";
import { finishConnect, startConnect } from "./connect.ts";

it("without the owner, any user with the callback URL finishes the flow", async () => {
  const clientSecret = "a-client-secret-of-the-twin";
  const provider = await startOpenIdProvider({
    clients: [{ clientId: "ours", clientSecret, redirectUris: [REDIRECT_URI] }],
  });
  const platform = await openTestConnect();
  const connector = await platform.addConnector("connector", {
    authentication: "oauth_2_1",
    registration: "pre_registered_client",
    clientId: "ours",
    clientSecret: new Secret(clientSecret),
    vendorOrIssuer: provider.issuer,
    scopes: "openid profile",
  });
  const attacker = signedIn("first-user");
  const victim = { ...signedIn("second-user"), sessionId: attacker.sessionId };
  const url = await startConnect(connector, attacker, platform);
  const back = await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
  await finishConnect(back.href, victim, platform);
  expect(await platform.connections.status(connector, victim.user.id)).toMatchObject({ state: "connected" });
  await platform.close();
  await provider.close();
});
