/**
 * The fixture of attacks on POST /register: two vendors in memory that register any client, and two
 * platforms of two owners, the first of which has an initial access token for the vendor `honest`.
 */
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { type Exchange, type PlatformId, PLATFORMS } from "./names.ts";
import type { VendorRequest } from "./fake-vendor.ts";
import { createFixture, requestOf, type Fixture } from "./fixture.ts";

/** The token of the owner `acme`, for the vendor `honest`. */
export const IAT = "iat-of-acme-0123456789abcdefghijklmnop";

export interface RegistrationFixture {
  readonly fixture: Fixture;
  /** Registrations that reached a vendor, oldest first. */
  readonly outbound: readonly VendorRequest[];
  register(body: string | object, who?: PlatformId): Promise<Exchange>;
}

/** @param metadata members over those of the vendor `honest` */
export async function setUpRegistration(
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<RegistrationFixture> {
  const outbound: VendorRequest[] = [];
  const fetch: Egress["fetch"] = async (input, init = {}) => {
    const request = requestOf(input, init);
    const { origin, pathname } = new URL(request.url);
    if (pathname === "/.well-known/openid-configuration") {
      return Response.json({ ...metadataOf(origin), ...(origin === "https://honest.example" ? metadata : {}) });
    }
    outbound.push(request);
    const made = { client_id: `client-${outbound.length}`, client_secret: `made-s3cret-${outbound.length}` };
    return Response.json({ ...(JSON.parse(request.body) as object), ...made }, { status: 201 });
  };
  const fixture = await createFixture({
    vendors: [],
    entries: {
      honest: { name: "Honest", issuer: "https://honest.example" },
      evil: { name: "Evil", issuer: "https://evil.example" },
    },
    config: {
      clients: Object.entries(PLATFORMS).map(([client_id, { secret, redirectUri }]) => ({
        client_id,
        client_secret: secret,
        redirect_uris: [redirectUri],
        owner: client_id === "platform" ? "acme" : "rival",
      })),
      owners: [{ id: "acme", initial_access_token: { honest: IAT } }, { id: "rival" }],
    },
    egress: { fetch, fetchUntrusted: fetch, close: async () => {} },
  });
  return { fixture, outbound, register: (body, who) => register(fixture, body, who) };
}

/** @param body text is sent unchanged */
export function register(fixture: Fixture, body: string | object, who: PlatformId = "platform"): Promise<Exchange> {
  return fixture.request("/register", {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${who}:${PLATFORMS[who].secret}`).toString("base64")}`,
      "content-type": "application/json",
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export function metadataOf(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    jwks_uri: `${origin}/jwks`,
    code_challenge_methods_supported: ["S256"],
  };
}

export const hostOf = ({ url }: VendorRequest): string => new URL(url).hostname;
