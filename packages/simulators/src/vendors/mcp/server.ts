/** An MCP authorization server built from its rules: Linear's and Notion's are two of them. */
import { createCodes } from "../base/codes.ts";
import type { VendorHost } from "../base/host.ts";
import { serveAuthorize } from "./authorize.ts";
import { serveMetadata } from "./metadata.ts";
import { CALLBACK_ERRORS, REGISTRATION_ERRORS, REVOCATION_ERRORS, TOKEN_ERRORS } from "./oauth-errors.ts";
import { serveRegistration } from "./registration.ts";
import type { McpAuthorization, McpClient, McpRules, McpSimulator, McpState } from "./rules.ts";
import { serveToken } from "./token.ts";

const CODE_LIFETIME_SECONDS = 600;

/**
 * Serves `/authorize`, `/token`, `/register`, the metadata and the MCP servers that `rules` names.
 *
 * @param apiErrors further refusals of the API
 */
export function serveMcp(
  host: VendorHost<McpClient>,
  rules: McpRules,
  apiErrors: readonly string[] = [],
): McpSimulator {
  const codes = createCodes<McpAuthorization & { readonly grantId: string }>(CODE_LIFETIME_SECONDS, host);
  const state: McpState = { ...host, rules, codes, documents: new Map() };
  serveMetadata(state);
  serveAuthorize(state);
  serveToken(state);
  const registered = serveRegistration(state);
  const { url } = host;
  const simulator = host.simulator({
    endpoints: {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      revocation_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
    },
    errors: {
      authorization: CALLBACK_ERRORS,
      token: TOKEN_ERRORS,
      revocation: REVOCATION_ERRORS,
      registration: REGISTRATION_ERRORS,
      api: ["invalid_token", ...apiErrors],
    },
  });
  return { ...simulator, registrations: () => [...registered] };
}
