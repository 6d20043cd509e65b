/**
 * What the conformance suite runs against: the fixture as a hosted server with its own callback, on
 * SQLite, in this process or inside an app, with the sandbox's OpenID provider as its vendor, behind
 * the proxy that adds the token of a user who really connected.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { driveConsent, startOpenIdProvider } from "@oauth-broker/simulators";
import { freePort } from "../support/free-port.ts";
import { serveInProcess } from "../support/mcp/in-process.ts";
import { textMember } from "../support/text-member.ts";
import { startBearerProxy } from "./add-bearer.ts";
import { fixture } from "./fixture/server.ts";

/** The suite's `--client-id`. */
export const CLIENT_ID = "conformance";
/** rfc8252#7.3: on loopback the client chooses the port. */
const REDIRECT_URI = "http://127.0.0.1/callback";

export interface Harness {
  /** The issuer and the base of all URLs. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HarnessOptions {
  /** `several`: with `VENDORS`, of which one signs users in and no tool needs another. */
  readonly vendors?: "one" | "several";
  /** Starts what serves the fixture, with these variables. Default: this process. */
  readonly start?: (env: Readonly<Record<string, string>>) => Promise<{ stop(): Promise<void> }>;
}

export async function openHarness({ vendors = "one", start }: HarnessOptions = {}): Promise<Harness> {
  const port = await freePort();
  const proxyPort = await freePort();
  const url = `http://127.0.0.1:${proxyPort}`;
  const client = { clientId: "fixture", clientSecret: randomBytes(24).toString("hex") };
  const provider = await startOpenIdProvider({ clients: [{ ...client, redirectUris: [`${url}/callback`] }] });
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-conformance-"));
  const environment = {
    OAUTH_MODE: "hosted",
    OAUTH_CALLBACK: "server",
    DEPLOYMENT_URL: url,
    PORT: String(port),
    DATA_DIR: folder,
    ...vendorVariables(vendors, {
      ISSUER: provider.issuer,
      CLIENT_ID: client.clientId,
      CLIENT_SECRET: client.clientSecret,
      SCOPES: "openid profile api:read",
    }),
    EGRESS_ALLOW_LOOPBACK: "true",
    OAUTH_CLIENTS: JSON.stringify([
      { client_id: CLIENT_ID, client_name: "MCP conformance", redirect_uris: [REDIRECT_URI] },
    ]),
    // No client uses one, but the suite warns when the metadata does not offer it.
    OAUTH_CLIENT_METADATA_HOSTS: "client.example",
  };
  const server = await (start?.(environment) ?? serveInProcess(fixture, environment));
  const proxy = await startBearerProxy(proxyPort, port);
  proxy.use(await connect(url));
  return {
    url,
    close: async () => {
      await proxy.close();
      await server.stop();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function vendorVariables(
  vendors: "one" | "several",
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const prefixed = (prefix: string): Record<string, string> =>
    Object.fromEntries(Object.entries(variables).map(([name, value]) => [`${prefix}_${name}`, value]));
  if (vendors === "one") return { VENDOR: "sandbox-vendor", ...prefixed("VENDOR") };
  return {
    VENDORS: "sandbox-vendor,github",
    ...prefixed("VENDOR_SANDBOX_VENDOR"),
    VENDOR_GITHUB_CLIENT_ID: "never-used",
    VENDOR_GITHUB_CLIENT_SECRET: "never-used",
  };
}

/**
 * The user consents and the client redeems its code.
 * @returns an access token
 */
async function connect(url: string): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const start = new URL("/authorize", url);
  start.search = new URLSearchParams({
    response_type: "code",
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  const back = await driveConsent(start, { stopAt: ({ href }) => href.startsWith(`${REDIRECT_URI}?`) });
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    code: back.searchParams.get("code") ?? "",
    code_verifier: verifier,
  });
  const answer = await fetch(new URL("/token", url), { method: "POST", body });
  return textMember((await answer.json()) as Record<string, unknown>, "access_token");
}
