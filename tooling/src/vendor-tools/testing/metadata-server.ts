/**
 * An issuer on loopback that publishes any metadata of a test, including what no proper server
 * publishes.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { onTestFinished } from "vitest";

/**
 * Closed with the test. @param change what is different in its metadata; undefined: it has none. Any
 * other path answers 404.
 */
export async function startMetadataServer(
  change: (issuer: string) => object | undefined = () => ({}),
): Promise<{ readonly issuer: string }> {
  const { url: issuer, close } = await startScriptedVendor({
    "/.well-known/oauth-authorization-server": () => {
      const changed = change(issuer);
      return changed === undefined ? { status: 404, body: {} } : { body: { ...goodMetadata(issuer), ...changed } };
    },
    "*": { status: 404, body: {} },
  });
  onTestFinished(close);
  return { issuer };
}

function goodMetadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
  };
}
