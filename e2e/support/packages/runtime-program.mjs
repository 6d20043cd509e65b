// What `npm run test:runtimes` runs on Node.js, Bun, Deno and workerd: broker-client against
// brokers that cannot be reached, hang up, and answer. Bundled with the client into one file.
import { createBrokerClient } from "@oauth-broker/broker-client";

/** @param issuers by case. @returns what the client said, by case */
export async function tryAll(issuers) {
  const said = {};
  for (const [name, issuer] of Object.entries(issuers)) {
    const redirectUri = "https://app.example/oauth/callback";
    const client = createBrokerClient({ issuer, clientId: "c", clientSecret: "s".repeat(32), redirectUri });
    try {
      said[name] = new URL((await client.start({ vendor: "github" })).url).pathname;
    } catch (error) {
      said[name] = `${error.code} ${error.details?.reason}`;
    }
  }
  return said;
}

/** For workerd, which requires its handler so. */
// oxlint-disable-next-line import/no-default-export
export default {
  fetch: async (request) => Response.json(await tryAll(await request.json())),
};
