/**
 * What a new project still lacks before it can be deployed, found by the checks the server itself
 * runs at its start.
 */
import { loadSettings, prefixOf } from "@oauth-broker/mcp-auth/config";
import { isConfigError } from "@oauth-broker/service/configuration";
import type { Choices } from "../choices/choices.ts";
import { environmentOf } from "./service-yaml.ts";

/** Variables that the platform or the operator sets. */
const GIVEN = {
  DEPLOYMENT_URL: "https://server.example.com",
  TRUSTED_PROXIES: "10.0.0.0/8",
};
/** With several vendors the callback is the server's own. */
const CALLBACK = { PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback" };
const CLIENT = { VENDOR_CLIENT_ID: "client-id", VENDOR_CLIENT_SECRET: "client-secret" };
/** Already covered by the platform's own messages. */
const KNOWN = /^OAUTH_DYNAMIC_REGISTRATION is open/;

export interface OpenPoints {
  /** The server does not start without these; the author adds them to service.yaml. */
  readonly missing: readonly string[];
  /** Worth knowing before the first user connects. */
  readonly notes: readonly string[];
}

export function openPoints(choices: Choices): OpenPoints {
  const { vendors } = choices;
  if (vendors.length > 1) {
    const clients = vendors.map(({ id }) => ({
      [`${prefixOf(id)}CLIENT_ID`]: id,
      [`${prefixOf(id)}CLIENT_SECRET`]: id,
    }));
    return pointsOf(Object.assign({}, GIVEN, environmentOf(choices), ...clients) as Record<string, string>);
  }
  const own = { ...GIVEN, ...CALLBACK, ...environmentOf(choices) };
  const asClient = pointsOf({ ...CLIENT, ...own });
  // In pre-registered mode the client is optional, and not every vendor can report the client of a
  // token.
  return choices.mode === "pre-registered" && asClient.missing.length > 0 ? pointsOf(own) : asClient;
}

function pointsOf(environment: Readonly<Record<string, string>>): OpenPoints {
  try {
    const { warnings } = loadSettings(environment);
    return { missing: [], notes: warnings.filter((warning) => !KNOWN.test(warning)) };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { missing: error.problems.map(({ path, problem }) => `${path} ${problem}`), notes: [] };
  }
}
