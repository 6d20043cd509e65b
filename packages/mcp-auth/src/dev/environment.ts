/** The environment of a server under development: that of service.yaml, adapted to this machine. */
import type { Environment } from "../config.ts";

export interface Desk {
  readonly url: string;
  /** The redirect URI of the app at the vendor. */
  readonly redirectUri: string;
  readonly mode: string;
  readonly environment: Readonly<Record<string, string>>;
}

const DEFAULT_PORT = "8788";

/**
 * In hosted mode the server uses its own callback and open registration here, so that any MCP
 * client of this machine connects by URL alone, without a platform.
 *
 * @param given service.yaml's environment, overridden by the process's own
 */
export function deskEnvironment(given: Environment): Desk {
  const port = given["PORT"] ?? DEFAULT_PORT;
  const url = `http://127.0.0.1:${port}`;
  const mode = given["OAUTH_MODE"] ?? "";
  const isHosted = mode === "hosted";
  const redirectUri = isHosted ? `${url}/callback` : `${url}/oauth/callback`;
  return {
    url,
    redirectUri,
    mode,
    environment: {
      HOST: "127.0.0.1",
      PORT: port,
      DEPLOYMENT_URL: url,
      ...(isHosted ? { OAUTH_CALLBACK: "server", OAUTH_DYNAMIC_REGISTRATION: "open", OAUTH_REGISTER: "" } : {}),
    },
  };
}
