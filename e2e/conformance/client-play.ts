/** One scenario: connect, consent where the server wants it, and use everything there is. Caller: client.ts. */
import { StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { userAtSdk } from "./client-oauth.ts";
import { type Context, createClient, useEverything } from "./client-use.ts";

/** First for a token, again for more scope, and once more where the authorization server changed. */
const MAX_CONSENTS = 3;

/** @throws what made the client give up */
export async function play(url: string, context: Context): Promise<void> {
  const { client_id, client_secret } = context;
  const known = client_id === undefined ? undefined : { client_id, ...(client_secret && { client_secret }) };
  const { provider: authProvider, consent } = userAtSdk(known);
  for (let consents = 0; ; consents += 1) {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
    const client = createClient();
    try {
      // oxlint-disable-next-line no-await-in-loop
      await client.connect(transport);
      // oxlint-disable-next-line no-await-in-loop
      await useEverything(client, context);
      return;
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || consents === MAX_CONSENTS) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await transport.finishAuth(await consent());
    } finally {
      // oxlint-disable-next-line no-await-in-loop
      await client.close();
    }
  }
}
