/**
 * RFC 7662, for the practice copies of vendors that have none: in the sandbox each connection can be
 * checked. Only the owner of a token learns anything of it.
 */
import { isSecretOf, readCredentials } from "./clients.ts";
import type { VendorHost } from "./host.ts";
import { json, readMembers } from "./members.ts";
import type { SimulatedClient } from "./simulator.ts";

export function serveIntrospection<Client extends SimulatedClient>(host: VendorHost<Client>): void {
  host.app.post("/introspect", async (c) => {
    const members = await readMembers(c);
    const { clientId, clientSecret } = readCredentials(c, members);
    const client = host.clients.find(clientId);
    if (client === undefined || clientSecret === undefined || !isSecretOf(client, clientSecret)) {
      return json({ error: "invalid_client" }, 401);
    }
    const token = host.tokens.find(members.get("token"));
    if (token?.state !== "live" || token.grant.clientId !== client.clientId) return json({ active: false });
    const { grant, expiresAt } = token;
    return json({
      active: true,
      client_id: grant.clientId,
      sub: grant.user,
      scope: grant.scopes.join(" "),
      ...(expiresAt === undefined ? {} : { exp: expiresAt }),
    });
  });
}
