/**
 * What oauth4webapi needs to know about a vendor and about our client there, created once per
 * object and kept as long as that object lives.
 */
import {
  allowInsecureRequests,
  type AuthorizationServer,
  type Client,
  clockSkew,
  clockTolerance,
  customFetch,
  type HttpRequestOptions,
} from "oauth4webapi";
import { systemClock } from "../mechanics/system-clock.ts";
import type { Clock, Fetch, Timer } from "../ports.ts";
import type { ResolvedVendor, Vendor, VendorCredentials } from "../registry/vendor.ts";
import { parameterName } from "./authorization/url.ts";
import { type Authenticate, clientAuthentication } from "./authentication.ts";
import { bareHost, isLoopbackHost } from "../egress/url.ts";
import { invalidVendorResponse } from "./errors.ts";
import { FORM_TYPE } from "../egress/messages.ts";

/** What a vendor client reaches vendors with. */
export interface VendorClientDeps {
  readonly fetch: Fetch;
  /**
   * For metadata and key sets, which are cached: several callers may be waiting for one load.
   * Default `fetch`.
   */
  readonly fetchDocuments?: Fetch;
  readonly now: Clock;
  readonly timer: Timer;
  /** Permits http on loopback, and nothing else. */
  readonly allowLoopback: boolean;
  /** Whether the callback also takes a POST. Default no: metadata with `form_post` only is refused. */
  readonly takesFormPost?: boolean;
  /** Private networks of the operator, for endpoints that metadata names. */
  readonly allowCidrs?: readonly string[];
  /** URLs that the operator wrote down: metadata may name any https port at the host of its issuer. */
  readonly operatorUrls?: readonly string[];
  /**
   * Called for each token answer that is passed on with less than the vendor has: its `scope` has no
   * usable shape, or the exchange for a long-lived token failed. The event is for the log.
   */
  readonly onLesserAnswer?: (
    event: "vendor_scope_left_out" | "vendor_token_short_lived",
    vendor: Pick<Vendor, "id">,
  ) => void;
}

type PostOptions = HttpRequestOptions<"POST", URLSearchParams>;

interface FormOptions {
  /** The header of the client authentication, if it has such a header. */
  readonly authorization: string | null;
  readonly signal: AbortSignal;
}

interface VendorBinding {
  readonly server: AuthorizationServer;
  /** The same with `refreshEndpoint` for its token endpoint. */
  readonly refreshServer: AuthorizationServer;
  /** @param endpoint the one about to be asked; http is allowed only if loopback is permitted */
  readonly options: (endpoint: string) => PostOptions;
  /**
   * Posts a form in the vendor's dialect.
   *
   * @throws OAuthError vendor_response_invalid for an endpoint that `options` would not allow
   */
  readonly postForm: (endpoint: string, form: URLSearchParams, more: FormOptions) => Promise<Response>;
}

interface CredentialsBinding {
  readonly client: Client;
  readonly authenticate: Authenticate;
}

export interface Bindings {
  readonly ofVendor: (vendor: ResolvedVendor) => VendorBinding;
  readonly ofCredentials: (credentials: VendorCredentials) => CredentialsBinding;
}

//= bar#ID-6
const CLOCK_TOLERANCE_SECONDS = 60;

export function createBindings(deps: VendorClientDeps): Bindings {
  return {
    ofVendor: oncePerObject((vendor) => bindVendor(vendor, deps)),
    ofCredentials: oncePerObject((credentials) => bindCredentials(credentials, deps)),
  };
}

/** @returns the same function, which makes one value per object, and keeps it as long as the object lives */
export function oncePerObject<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, Made>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}

function bindVendor(vendor: ResolvedVendor, { fetch, allowLoopback }: VendorClientDeps): VendorBinding {
  const server: AuthorizationServer = {
    // The library requires an issuer; if the vendor has none it is compared with nothing,
    // because no ID token is passed on.
    issuer: vendor.issuer ?? new URL(vendor.tokenEndpoint).origin,
    token_endpoint: vendor.tokenEndpoint,
    id_token_signing_alg_values_supported: [...vendor.idTokenAlgs],
    ...(vendor.revocationEndpoint === undefined ? {} : { revocation_endpoint: vendor.revocationEndpoint }),
  };
  const send = sender(vendor, fetch);
  const secure: PostOptions = { [customFetch]: send, headers: { "user-agent": "oauth-broker" } };
  const insecure: PostOptions = { ...secure, [allowInsecureRequests]: true };
  const known = new Map<string, Endpoint>();
  const read = (text: string): Endpoint => {
    const isInsecure = allowLoopback && isLoopbackHttp(text);
    const url = URL.parse(text);
    const endpoint = { href: url?.protocol === "https:" || isInsecure ? url?.href : undefined, isInsecure };
    known.set(text, endpoint);
    return endpoint;
  };
  const endpointOf = (text: string): Endpoint => known.get(text) ?? read(text);
  const form = { ...FORM, ...vendor.tokenHeaders };
  return {
    server,
    refreshServer:
      vendor.refreshEndpoint === undefined ? server : { ...server, token_endpoint: vendor.refreshEndpoint },
    options: (endpoint) => (endpointOf(endpoint).isInsecure ? insecure : secure),
    postForm: async (endpoint, body, { authorization, signal }) => {
      const { href } = endpointOf(endpoint);
      if (href === undefined) throw invalidVendorResponse("an endpoint is not https");
      const headers = authorization === null ? form : { ...form, authorization };
      return send(href, { body, headers, method: "POST", redirect: "manual", signal });
    },
  };
}

/** An endpoint's text, read once. */
interface Endpoint {
  /** Undefined if nothing may be sent. */
  readonly href: string | undefined;
  readonly isInsecure: boolean;
}

/** What oauth4webapi sends, but for the type: it has no `charset`, and strict vendors refuse one. */
//= rfc6749#B
const FORM = {
  accept: "application/json",
  "content-type": FORM_TYPE,
  "user-agent": "oauth-broker",
};

function isLoopbackHttp(endpoint: string): boolean {
  return endpoint.startsWith("http:") && isLoopbackHost(bareHost(new URL(endpoint)));
}

/** Rewrites the library's standard request in the vendor's dialect. */
function sender(vendor: ResolvedVendor, fetch: Fetch): NonNullable<PostOptions[typeof customFetch]> {
  const isRenamed = Object.keys(vendor.parameterNames).length > 0;
  const addsMore = (vendor.codeExchangeParams ?? vendor.refreshParams) !== undefined;
  const named = (given: TokenRequest): TokenRequest => {
    const init = addsMore ? { ...given, body: withFixed(given.body, vendor) } : given;
    return isRenamed ? { ...init, body: renamed(init.body, vendor) } : init;
  };
  return vendor.tokenRequestBody === "json"
    ? (url, init) => fetch(url, asJson(named(init)))
    : (url, init) => fetch(url, named(init));
}

type TokenRequest = Parameters<NonNullable<PostOptions[typeof customFetch]>>[1];

/** The entry's fixed parameters of the grant; none replaces our parameters. */
function withFixed(
  body: URLSearchParams,
  { codeExchangeParams, refreshParams }: Pick<ResolvedVendor, "codeExchangeParams" | "refreshParams">,
): URLSearchParams {
  const grant = body.get("grant_type");
  const fixed =
    grant === "authorization_code" ? codeExchangeParams : grant === "refresh_token" ? refreshParams : undefined;
  const more = Object.entries(fixed ?? {}).filter(([name]) => !body.has(name));
  return more.length === 0 ? body : new URLSearchParams([...body, ...more]);
}

function renamed(body: URLSearchParams, vendor: ResolvedVendor): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [standard, value] of body) {
    const name = parameterName(vendor, standard);
    if (name !== "") parameters.append(name, value);
  }
  return parameters;
}

function asJson(init: { body: URLSearchParams; headers: Record<string, string> }): RequestInit {
  return {
    ...init,
    headers: { ...init.headers, "content-type": "application/json" },
    body: JSON.stringify(Object.fromEntries(init.body)),
  };
}

function bindCredentials(credentials: VendorCredentials, { now }: VendorClientDeps): CredentialsBinding {
  const client: Client = {
    client_id: credentials.clientId,
    [clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    // The library reads the system's clock: so it reads ours, and one clock decides everywhere.
    get [clockSkew]() {
      return now() - systemClock();
    },
  };
  return { client, authenticate: clientAuthentication(credentials, now) };
}
