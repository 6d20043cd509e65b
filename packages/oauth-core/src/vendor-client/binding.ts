/**
 * What oauth4webapi needs to know about a vendor and about our client there, created once per
 * object and kept as long as that object lives.
 */
import { type AuthorizationServer, type Client, clockSkew, clockTolerance } from "oauth4webapi";
import { oncePerObject } from "../mechanics/expiring-map.ts";
import { systemClock } from "../mechanics/system-clock.ts";
import type { Clock, Fetch, Timer } from "../ports.ts";
import type { ResolvedVendor, Vendor, VendorCredentials } from "../registry/vendor.ts";
import { parameterName } from "./authorization/url.ts";
import { type Authenticate, clientAuthentication } from "./authentication.ts";
import type { Deadline } from "./deadline.ts";
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

/** A form that we send as the client of some credentials. */
export interface ClientForm {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  readonly endpoint: string;
  /** Introspection knows no dialect; the entry's headers are for token requests alone. */
  readonly to: "token" | "revocation" | "introspection";
  readonly parameters: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

interface VendorBinding {
  readonly server: AuthorizationServer;
  /**
   * @returns the address of an endpoint that is about to be asked
   * @throws OAuthError vendor_response_invalid for one that is neither https nor permitted loopback
   */
  readonly hrefOf: (endpoint: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** Rewrites a form in the vendor's dialect. */
  readonly inDialect: (form: FormRequest) => RequestInit;
}

export interface Bindings {
  readonly ofVendor: (vendor: ResolvedVendor) => VendorBinding;
  readonly clientOf: (credentials: VendorCredentials) => Client;
  /**
   * Sends the form once.
   *
   * @throws OAuthError vendor_response_invalid for an endpoint that may not be asked
   */
  readonly postForm: (form: ClientForm) => Promise<Response>;
}

/** What one operation at a vendor needs. */
export interface CallDeps extends Pick<VendorClientDeps, "now" | "fetch"> {
  readonly bindings: Bindings;
  readonly deadline: Deadline;
}

//= bar#ID-6
const CLOCK_TOLERANCE_SECONDS = 60;

export function createBindings(deps: VendorClientDeps): Bindings {
  const ofVendor = oncePerObject((vendor: ResolvedVendor) => bindVendor(vendor, deps));
  const ofCredentials = oncePerObject((credentials: VendorCredentials) => bindCredentials(credentials, deps));
  return {
    ofVendor,
    clientOf: (credentials) => ofCredentials(credentials).client,
    postForm: async ({ vendor, credentials, endpoint, to, parameters, signal }) => {
      const { server, hrefOf, headers, inDialect } = ofVendor(vendor);
      const { client, authenticate } = ofCredentials(credentials);
      const asked =
        to === "token" && endpoint !== server.token_endpoint ? { ...server, token_endpoint: endpoint } : server;
      const body = new URLSearchParams(parameters);
      const proof = new Headers();
      await authenticate(vendor)(asked, client, body, proof);
      const authorization = proof.get("authorization");
      const usual = to === "token" ? headers : FORM;
      const form: FormRequest = {
        body,
        headers: authorization === null ? usual : { ...usual, authorization },
        method: "POST",
        redirect: "manual",
        signal,
      };
      return deps.fetch(hrefOf(endpoint), to === "introspection" ? form : inDialect(form));
    },
  };
}

interface FormRequest extends RequestInit {
  readonly body: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
}

function bindVendor(vendor: ResolvedVendor, { allowLoopback }: VendorClientDeps): VendorBinding {
  const server: AuthorizationServer = {
    // The library requires an issuer; if the vendor has none it is compared with nothing,
    // because no ID token is passed on.
    issuer: vendor.issuer ?? new URL(vendor.tokenEndpoint).origin,
    token_endpoint: vendor.tokenEndpoint,
    id_token_signing_alg_values_supported: [...vendor.idTokenAlgs],
  };
  const known = new Map<string, string>();
  const read = (text: string): string => {
    const url = URL.parse(text);
    const href = url?.protocol === "https:" || (allowLoopback && isLoopbackHttp(text)) ? url?.href : undefined;
    if (href === undefined) throw invalidVendorResponse("an endpoint is not https");
    known.set(text, href);
    return href;
  };
  return {
    server,
    hrefOf: (text) => known.get(text) ?? read(text),
    headers: { ...FORM, ...vendor.tokenHeaders },
    inDialect: dialectOf(vendor),
  };
}

/** The type has no `charset`, and strict vendors refuse one. */
//= rfc6749#B
const FORM = {
  accept: "application/json",
  "content-type": FORM_TYPE,
  "user-agent": "oauth-broker",
};

function isLoopbackHttp(endpoint: string): boolean {
  return endpoint.startsWith("http:") && isLoopbackHost(bareHost(new URL(endpoint)));
}

/** Rewrites the standard's form in the vendor's dialect. */
function dialectOf(vendor: ResolvedVendor): VendorBinding["inDialect"] {
  const isRenamed = Object.keys(vendor.parameterNames).length > 0;
  const addsMore = (vendor.codeExchangeParams ?? vendor.refreshParams) !== undefined;
  const named = (given: FormRequest): FormRequest => {
    const init = addsMore ? { ...given, body: withFixed(given.body, vendor) } : given;
    return isRenamed ? { ...init, body: renamed(init.body, vendor) } : init;
  };
  return vendor.tokenRequestBody === "json" ? (form) => asJson(named(form)) : named;
}

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

function asJson(init: FormRequest): RequestInit {
  return {
    ...init,
    headers: { ...init.headers, "content-type": "application/json" },
    body: JSON.stringify(Object.fromEntries(init.body)),
  };
}

function bindCredentials(
  credentials: VendorCredentials,
  { now }: VendorClientDeps,
): { readonly client: Client; readonly authenticate: Authenticate } {
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
