/**
 * An issuer on loopback that publishes any metadata of a test, including what no proper server
 * publishes.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { onTestFinished } from "vitest";

export interface MetadataServer {
  readonly issuer: string;
  /** Its metadata; undefined: it has none. Any other path answers 404. */
  document: object | undefined;
}

/** Closed with the test. */
export async function startMetadataServer(
  make: (issuer: string) => object | undefined = goodMetadata,
): Promise<MetadataServer> {
  const { url: issuer, close } = await startScriptedVendor({
    "/.well-known/oauth-authorization-server": () =>
      known.document === undefined ? { status: 404, body: {} } : { body: known.document },
    "*": { status: 404, body: {} },
  });
  onTestFinished(close);
  const known: MetadataServer = { issuer, document: make(issuer) };
  return known;
}

export function goodMetadata(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
  };
}
