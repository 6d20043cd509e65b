/** A broker in memory whose one vendor registers clients, for the tests of POST /register. */
import type { Fetch } from "@oauth-broker/oauth-core";
import { basic, CLIENT_SECRET, ISSUER, testBroker, type TestBrokerOptions } from "./test-broker.ts";

export const REGISTERED = JSON.stringify({
  client_id: "new-client",
  client_secret: "new-client-s3cret",
  registration_access_token: "rat-s3cret",
});
const JSON_TYPE = { "content-type": "application/json" };
/** The headers of a client that authenticates. */
export const as = (clientId: string) => ({ authorization: basic(clientId, CLIENT_SECRET) });

interface Asked {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: Record<string, unknown>;
}

/** A broker whose one vendor has a registration endpoint with the given answer. */
export async function registeringBroker(options: TestBrokerOptions & { readonly answer?: () => Response } = {}) {
  const asked: Asked[] = [];
  const vendorAnswers: Fetch = async (input, init = {}) => {
    const { body, headers } = init;
    const text = typeof body === "string" ? body : "{}";
    asked.push({
      url: String(input),
      authorization: new Headers(headers).get("authorization"),
      body: JSON.parse(text) as Record<string, unknown>,
    });
    return options.answer?.() ?? new Response(REGISTERED, { status: 201, headers: JSON_TYPE });
  };
  const vendor = { registrationEndpoint: "https://acme.example/register", ...options.vendor };
  const broker = await testBroker({ ...options, vendor, vendorAnswers });
  const register = async (body: unknown = { vendor: "acme" }, headers: Record<string, string> = as("platform")) =>
    broker.app.request(`${ISSUER}/register`, {
      method: "POST",
      headers: { ...JSON_TYPE, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...broker, asked, register };
}

export const errorOf = async (response: Response): Promise<{ status: number; error: string }> => ({
  status: response.status,
  error: ((await response.json()) as { error: string }).error,
});
