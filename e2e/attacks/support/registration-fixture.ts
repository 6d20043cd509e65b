/**
 * The fixture of attacks on POST /register: vendors in memory that register any client, and two
 * platforms of two owners, the first of which has an initial access token for the vendor `honest`.
 */
import { createFakeVendor, type FakeVendor } from "@oauth-broker/simulators";
import { basic } from "../../support/broker/platform.ts";
import { EVIL, type Exchange, HONEST, type PlatformId, PLATFORMS } from "./names.ts";
import { clientsOf, createFixture, type Fixture, type OutboundRequest } from "./fixture.ts";

/** The token of the owner `acme`, for the vendor `honest`. */
export const IAT = "iat-of-acme-0123456789abcdefghijklmnop";

/** @param metadata members over those of the vendor `honest` */
export async function setUpRegistration(metadata: Readonly<Record<string, unknown>> = {}) {
  let made = 0;
  const vendorAt = (origin: string, more = {}): FakeVendor => {
    const register = ({ body }: { readonly body: string }) => {
      made += 1;
      const credentials = { client_id: `client-${made}`, client_secret: `made-s3cret-${made}` };
      return { status: 201, body: { ...(JSON.parse(body) as object), ...credentials } };
    };
    const described = { registration_endpoint: `${origin}/register`, ...more };
    return createFakeVendor({ origin, sendsIss: false, metadata: () => described, paths: { "/register": register } });
  };
  const fixture = await createFixture({
    vendors: [vendorAt(HONEST, metadata), vendorAt(EVIL), vendorAt("https://collector.example")],
    config: {
      clients: clientsOf({ platform: { owner: "acme" }, other: { owner: "rival" } }),
      owners: [{ id: "acme", initial_access_token: { honest: IAT } }, { id: "rival" }],
    },
  });
  return {
    fixture,
    /** That reached a vendor, oldest first. */
    registrations: () => fixture.outbound.filter(({ url }) => !new URL(url).pathname.startsWith("/.well-known/")),
    register: (body: string | object, who?: PlatformId) => register(fixture, body, who),
  };
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
