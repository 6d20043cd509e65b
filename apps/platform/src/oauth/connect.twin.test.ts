/** Twin of connect.test.ts: were a flow not its session's alone, another user's browser would finish it and keep the tokens. */
import { Secret } from "@oauth-broker/oauth-core";
import { driveConsent, startOpenIdProvider } from "@oauth-broker/simulators";
import { expect, it, vi } from "vitest";
import { openTestConnect, REDIRECT_URI, signedIn } from "../testing/test-connect.ts";
import { finishConnect, startConnect } from "./connect.ts";

vi.mock("./flow-owner.ts", () => ({ ownerOfFlow: () => "anybody" }));

it("a flow without an owner is finished by whoever has its callback", async () => {
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
  const victim = signedIn("second-user");
  const url = await startConnect(connector, attacker, platform);
  const back = await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI) });
  await finishConnect(back.href, victim, platform);
  expect(await platform.connections.status(connector, victim.user.id)).toMatchObject({ state: "connected" });
  await platform.close();
  await provider.close();
});
