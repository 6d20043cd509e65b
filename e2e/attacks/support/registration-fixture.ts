/**
 * The fixture of attacks on POST /register: two vendors in memory that register any client, and two
 * platforms of two owners, the first of which has an initial access token for the vendor `honest`.
 */
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { createFakeVendor } from "@oauth-broker/simulators";
import { basic } from "../../support/broker/platform.ts";
import { EVIL, type Exchange, HONEST, type PlatformId, PLATFORMS } from "./names.ts";
import { answerOf, createFixture, type Fixture, type OutboundRequest, requestOf } from "./fixture.ts";

/** The token of the owner `acme`, for the vendor `honest`. */
export const IAT = "iat-of-acme-0123456789abcdefghijklmnop";

/** @param metadata members over those of the vendor `honest` */
export async function setUpRegistration(metadata: Readonly<Record<string, unknown>> = {}) {
  const outbound: OutboundRequest[] = [];
  const fetch: Egress["fetch"] = async (input, init = {}) => {
    const request = requestOf(input, init);
    const { origin, pathname } = new URL(request.url);
    if (!pathname.startsWith("/.well-known/")) outbound.push(request);
    const made = { client_id: `client-${outbound.length}`, client_secret: `made-s3cret-${outbound.length}` };
    const vendor = createFakeVendor({
      origin,
      sendsIss: false,
      metadata: () => ({
        registration_endpoint: `${origin}/register`,
        ...(origin === HONEST ? metadata : {}),
      }),
      paths: { "/register": ({ body }) => ({ status: 201, body: { ...(JSON.parse(body) as object), ...made } }) },
    });
    return answerOf(vendor, request);
  };
  const fixture = await createFixture({
    vendors: [],
    entries: {
      honest: { name: "Honest", issuer: HONEST },
      evil: { name: "Evil", issuer: EVIL },
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
  /** `outbound`: the registrations that reached a vendor, oldest first. */
  return { fixture, outbound, register: (body: string | object, who?: PlatformId) => register(fixture, body, who) };
}

/** @param body text is sent unchanged */
export function register(fixture: Fixture, body: string | object, who: PlatformId = "platform"): Promise<Exchange> {
  return fixture.request("/register", {
    method: "POST",
    headers: { authorization: basic(who, PLATFORMS[who].secret), "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export const hostOf = ({ url }: OutboundRequest): string => new URL(url).hostname;
