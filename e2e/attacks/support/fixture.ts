/**
 * The fixture of the attacks: one broker in this process, configured as an operator would, vendors
 * in memory, any number of browsers and backends. Records everything the broker answers and checks
 * it when the test ends. No sockets: requests go through the app, and what the broker sends to
 * vendors ends at `createFakeVendor`.
 */
import type { FakeVendor } from "@oauth-broker/simulators";
import type { Fetch } from "@oauth-broker/oauth-core";
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { expect, onTestFinished } from "vitest";
import { openBroker } from "../../support/broker/in-process.ts";
import { BASE_URL, type Exchange, NOW, PLATFORMS, VENDOR_CLIENT } from "./names.ts";
import { faultsOf, twins } from "./every-answer.ts";

export interface FixtureOptions {
  readonly vendors: readonly FakeVendor[];
  /**
   * Entries by id, in the spelling of broker.yaml. Default of each vendor: named by the first label
   * of its host, discovered.
   */
  readonly entries?: Readonly<Record<string, object>>;
  /** Further top-level members of broker.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Receives every outbound request of the broker, instead of the vendors. */
  readonly egress?: Egress;
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>;
export async function createFixture(options: FixtureOptions) {
  const now = fixedClock(NOW);
  const twinsBefore = twins.ran;
  const outbound: OutboundRequest[] = [];
  const egress = options.egress ?? egressTo(options.vendors, outbound);
  // JSON is YAML.
  const { broker, folder, kept } = await openBroker(JSON.stringify(configurationOf(options)), { now, egress });
  const exchanges: Exchange[] = [];
  const fixture = {
    broker,
    now,
    vendors: options.vendors,
    /**
     * One request to the broker, recorded in `exchanges`.
     * @param url absolute, or a path
     */
    request: async (url: URL | string, init: RequestInit = {}): Promise<Exchange> => {
      const target = new URL(url, BASE_URL).href;
      const response = await broker.app.request(target, init);
      const { status, headers } = response;
      const exchange = { method: init.method ?? "GET", url: target, status, headers, body: await response.text() };
      exchanges.push(exchange);
      return exchange;
    },
    exchanges: exchanges as readonly Exchange[],
    /** Every outbound request of the broker. */
    outbound: outbound as readonly OutboundRequest[],
    logLines: kept.lines,
    /** The folder of broker.yaml. */
    folder,
  };
  onTestFinished(async () => {
    await broker.close();
    if (twins.ran === twinsBefore) expect(faultsOf(fixture)).toEqual([]);
  });
  return fixture;
}

function configurationOf({ vendors, entries, config }: FixtureOptions): object {
  const credentials = { id: "first", client_id: VENDOR_CLIENT.clientId, client_secret: VENDOR_CLIENT.clientSecret };
  const discovered = vendors.map(({ origin }) => [idOf(origin), { name: idOf(origin), issuer: origin }] as const);
  return {
    base_url: BASE_URL,
    store: "memory:",
    clients: clientsOf(),
    vendors: Object.fromEntries(
      Object.entries(entries ?? Object.fromEntries(discovered)).map(([id, entry]) => [
        id,
        { default_scopes: ["read"], credentials, ...entry },
      ]),
    ),
    limits: { par_per_minute: 0, explain_per_minute: 0, vendor_calls_per_minute: 0 },
    ...config,
  };
}

/** The two platforms, in the spelling of broker.yaml. @param more of each */
export function clientsOf(more: Readonly<Partial<Record<string, object>>> = {}): object[] {
  return Object.entries(PLATFORMS).map(([client_id, { secret, redirectUri }]) => {
    return { client_id, client_secret: secret, redirect_uris: [redirectUri], ...more[client_id] };
  });
}

/** `honest` of `https://honest.example`. */
export function idOf(origin: string): string {
  return new URL(origin).hostname.split(".")[0] ?? "";
}

/** @param kept receives each request before it is answered. An unknown host is unreachable. */
function egressTo(vendors: readonly FakeVendor[], kept: OutboundRequest[]): Egress {
  const fetch: Fetch = async (input, init = {}) => {
    const request = requestOf(input, init);
    kept.push(request);
    const vendor = vendors.find(({ origin }) => new URL(request.url).origin === origin);
    if (vendor === undefined) throw new Error("no vendor at this host");
    return answerOf(vendor, request);
  };
  return { fetch, fetchUntrusted: fetch, close: async () => {} };
}

export async function answerOf(
  vendor: Pick<FakeVendor, "answer">,
  { url, headers, ...request }: OutboundRequest,
): Promise<Response> {
  const { pathname: path, searchParams: query } = new URL(url);
  const asked = { ...request, path, query, headers: Object.fromEntries(headers) };
  const { status = 200, headers: given = {}, body = null } = await vendor.answer(asked);
  const init = { status, headers: given };
  return typeof body === "object" && !(body instanceof Uint8Array) && body !== null
    ? Response.json(body, init)
    : new Response(body, init);
}

/** A request of the broker to a vendor. */
export type OutboundRequest = ReturnType<typeof requestOf>;
export function requestOf(input: Parameters<Fetch>[0], init: RequestInit) {
  const { body } = init;
  const text = typeof body === "string" || body instanceof URLSearchParams ? body.toString() : "";
  return {
    method: init.method ?? "GET",
    url: input instanceof URL ? input.href : String(input),
    headers: new Headers(init.headers),
    body: text,
    form: new URLSearchParams(text),
  };
}
