/**
 * Calls the vendor's endpoints without credentials: with an unknown client, and with a code and a
 * token that never existed. The broker must understand each refusal. Called by probe.ts.
 */
import {
  type Fetch,
  type JsonObject,
  OAuthError,
  parseJsonStrict,
  Secret,
  systemTimer,
} from "@oauth-broker/oauth-core";
import { createVendorClient, usableKeys, type VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { createCodeVerifier, deriveCodeChallenge, randomToken } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { isEgressError } from "@oauth-broker/oauth-core/egress";
import { allowedFor, createRecorder, type Exchange } from "@oauth-broker/simulators/fixtures";
import type { DiscoveryDeps } from "./discovery.ts";
import { drift, type Finding, note, same, unasked } from "../finding.ts";
import { explain } from "../refusal.ts";

export interface EndpointProbe {
  readonly check: string;
  readonly ask: () => Promise<Finding>;
}

const REDIRECT_URI = "https://client.example/callback";
const SCOPE_FOR_NOTHING: readonly string[] = [];

/** The calls, in order. */
export function endpointProbes(vendor: ResolvedVendor, deps: DiscoveryDeps): EndpointProbe[] {
  const { fetch, now, allowLoopback } = deps;
  const recorder = createRecorder(fetch, allowedFor(vendor, SCOPE_FOR_NOTHING));
  const vendorClient = createVendorClient({ fetch: recorder.fetch, timer: systemTimer, now, allowLoopback });
  const credentials = unknownClient();
  const refused = (check: string, ask: () => Promise<unknown>): EndpointProbe => ({
    check,
    ask: () => understood(check, ask, recorder.take),
  });
  const { jwksUri, issuesIdTokens, refreshEndpoint, revocationEndpoint } = vendor;
  const verifier = vendor.pkce === "none" ? {} : { codeVerifier: createCodeVerifier() };
  const code = { code: randomToken(24), redirectUri: REDIRECT_URI, scope: SCOPE_FOR_NOTHING, ...verifier };
  return [
    ...(jwksUri === undefined || issuesIdTokens === false
      ? []
      : [{ check: "key set", ask: () => keySet("key set", jwksUri, fetch) }]),
    authorization(vendor, credentials, vendorClient, fetch),
    refused("token endpoint", () => vendorClient.redeemCode(vendor, credentials, code)),
    ...(refreshEndpoint === undefined
      ? []
      : [
          refused("refresh endpoint", () =>
            vendorClient.refreshTokens(vendor, credentials, { refreshToken: randomToken(24) }),
          ),
        ]),
    ...(revocationEndpoint === undefined
      ? []
      : [
          refused("revocation endpoint", async () => {
            const tokenTypeHint = vendor.revokes === "refresh_token" ? "refresh_token" : "access_token";
            await vendorClient.revokeToken(vendor, credentials, { token: randomToken(24), tokenTypeHint });
            throw new OAuthError("invalid_grant", "It treats an unknown token as an expired one");
          }),
        ]),
  ];
}

function unknownClient(): VendorCredentials {
  return {
    id: "probe",
    source: "environment",
    clientId: `probe-${randomToken(9)}`,
    clientSecret: new Secret(randomToken(24)),
  };
}

const UNDERSTOOD: ReadonlySet<string> = new Set(["invalid_grant", "vendor_credentials_rejected"]);

async function understood(
  check: string,
  ask: () => Promise<unknown>,
  take: () => Exchange | undefined,
): Promise<Finding> {
  try {
    await ask();
    return drift(check, "a code that never existed is accepted");
  } catch (error) {
    const answer = take();
    const outage = unasked(check, error);
    if (outage !== undefined) return outage;
    const form = answer === undefined ? "" : `${answer.status} ${answer.contentType} ${JSON.stringify(answer.body)}: `;
    if (!(error instanceof OAuthError)) throw error;
    return UNDERSTOOD.has(error.code) ? same(check, `${form}${error.code}`) : drift(check, `${form}${explain(error)}`);
  }
}

async function keySet(check: string, jwksUri: string, fetch: Fetch): Promise<Finding> {
  try {
    const response = await fetch(jwksUri, { headers: { accept: "application/json" }, redirect: "manual" });
    if (response.status !== 200) return drift(check, `${jwksUri} answers ${response.status}`);
    const keys = usableKeys(parseJsonStrict(await response.text()) as JsonObject);
    return keys.length > 0 ? same(check, `${keys.length} usable keys`) : drift(check, "no usable key");
  } catch (error) {
    return unasked(check, error) ?? drift(check, `${jwksUri} is not a key set`);
  }
}

function authorization(
  vendor: ResolvedVendor,
  { clientId }: VendorCredentials,
  vendorClient: VendorClient,
  fetch: Fetch,
): EndpointProbe {
  const check = "authorization endpoint";
  const ask = async (): Promise<Finding> => {
    const url = vendorClient.authorizationUrl(vendor, {
      clientId,
      redirectUri: REDIRECT_URI,
      state: randomToken(24),
      scope: vendor.defaultScopes,
      ...(vendor.pkce === "none" ? {} : { codeChallenge: deriveCodeChallenge(createCodeVerifier()) }),
    });
    try {
      const response = await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" });
      return authorizationAnswer(check, url, response);
    } catch (error) {
      // A page longer than the limit is still a page.
      if (isEgressError(error) && error.kind === "too_large") return same(check, "answers with a page");
      return unasked(check, error) ?? drift(check, "does not answer with HTTP");
    }
  };
  return { check, ask };
}

/**
 * With an unknown client: a refusal is an answer; only an endpoint that is gone or has moved is a
 * drift.
 */
function authorizationAnswer(check: string, asked: string, { status, headers }: Response): Finding {
  const location = URL.parse(headers.get("location") ?? "", asked);
  if ((status === 301 || status === 308) && location !== null) {
    return drift(check, `has moved to ${location.origin}${location.pathname}`);
  }
  if (status === 404) return note(check, "404, which may be for an unknown client");
  if (status === 410) return drift(check, "410, gone");
  if (status === 429 || status >= 500)
    return { check, result: "unasked", text: `could not be checked: status ${status}` };
  return same(check, `answers ${status}`);
}
