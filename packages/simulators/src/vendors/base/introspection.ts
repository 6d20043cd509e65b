/** RFC 7662: only the owner of a token learns anything of it. */
import { authenticate, type AuthMethod } from "./clients.ts";
import type { VendorHost } from "./host.ts";
import { json, readMembers } from "./members.ts";
import type { SimulatedClient } from "./simulator.ts";

/** Serves `POST /introspect`. */
export function serveIntrospection<Client extends SimulatedClient>(
  { app, tokens, clients }: VendorHost<Client>,
  methodOf?: (client: Client) => AuthMethod,
): void {
  app.post("/introspect", async (c) => {
    const members = await readMembers(c);
    const client = authenticate(c, members, clients, methodOf);
    if (client === undefined) return json({ error: "invalid_client" }, 401);
    const token = tokens.find(members.get("token"), undefined, client.clientId);
    if (token?.state !== "live") return json({ active: false });
    const { grant, issuedAt, expiresAt } = token;
    return json({
      active: true,
      client_id: grant.clientId,
      sub: grant.user,
      scope: grant.scopes.join(" "),
      iat: issuedAt,
      ...(expiresAt === undefined ? {} : { exp: expiresAt }),
    });
  });
}
