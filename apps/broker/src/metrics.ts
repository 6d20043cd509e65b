/**
 * Prometheus metrics of one app instance. The functions are typed so that a label is always one of
 * few values: what callers send (paths, ids, texts) never becomes a label. GET /metrics renders
 * them.
 */
import { toOAuthError } from "@oauth-broker/oauth-core";
import type { RegistrationAnswer, VendorClient } from "@oauth-broker/oauth-core/client";
import type { RequestMetrics } from "@oauth-broker/oauth-core/service";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

export interface Metrics extends RequestMetrics {
  /**
   * @param vendor a vendor of the registry or the configuration; any other is counted as `other`
   */
  countVendorCall(vendor: string, operation: VendorOperation, outcome: string): void;
  /** A refresh answered from the sealed result of another request's vendor call. */
  countRefreshReplay(): void;
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export type VendorOperation = "discover" | "redeem" | "refresh" | "revoke" | "register" | "jwks" | "userinfo";

export interface MetricsOptions {
  /** Ids that may be a `vendor` label. */
  readonly vendors?: Iterable<string>;
  /**
   * CPU, memory, event loop and garbage collection of the process. Default true; off when many
   * apps share one process.
   */
  readonly processMetrics?: boolean;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]);
const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10];
/**
 * Routes, legs and reasons are constants of the code. These limits matter only if one of them ever
 * is not.
 */
const MOST_ROUTES = 64;
const MOST_REASONS = 128;

export function createMetrics({ vendors = [], processMetrics = true }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests answered, by route pattern",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from reading a request to its answer",
    labelNames: ["route"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const refusals = new Counter({
    name: "broker_refusals_total",
    help: "Requests and callbacks refused, by leg and reason",
    labelNames: ["leg", "reason"],
    registers,
  });
  const vendorCalls = new Counter({
    name: "broker_vendor_calls_total",
    help: "Calls to vendors, by what came of them",
    labelNames: ["vendor", "operation", "outcome"],
    registers,
  });
  const refreshReplays = new Counter({
    name: "broker_refresh_replays_total",
    help: "Refreshes answered from the sealed answer of a parallel one",
    registers,
  });

  const vendorLabel = new Set(vendors);
  const routeLabel = boundedLabel(/^[\w/.:{}*-]{1,64}$/, MOST_ROUTES);
  const legLabel = boundedLabel(/^[a-z_]{1,32}$/, MOST_ROUTES);
  const reasonLabel = boundedLabel(/^[a-z_]{1,48}$/, MOST_REASONS);
  const outcomeLabel = boundedLabel(/^[a-z0-9_]{1,48}$/, MOST_REASONS);

  return {
    countRequest: (route, method, status, seconds) => {
      const label = routeLabel(route);
      requests.inc({ route: label, method: METHODS.has(method) ? method : "other", status });
      durations.observe({ route: label }, seconds);
    },
    countRefusal: (leg, reason) => {
      refusals.inc({ leg: legLabel(leg), reason: reasonLabel(reason) });
    },
    countVendorCall: (vendor, operation, outcome) => {
      vendorCalls.inc({
        vendor: vendorLabel.has(vendor) ? vendor : "other",
        operation,
        outcome: outcomeLabel(outcome),
      });
    },
    countRefreshReplay: () => {
      refreshReplays.inc();
    },
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/** The first `most` values of a plain shape become labels; every other value is `other`. */
function boundedLabel(shape: RegExp, most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most || !shape.test(value)) return "other";
    known.add(value);
    return value;
  };
}

/** A refusal is returned, not thrown: only its status shows the outcome. */
function registrationOutcome({ status }: RegistrationAnswer): string {
  return status < 400 ? "ok" : status < 500 ? "refused" : "failed";
}

/** Counts every call to a vendor and its outcome, without a change to the vendor client. */
export function countedVendorClient(client: VendorClient, metrics: Metrics): VendorClient {
  const counted = async <T>(
    vendor: string,
    operation: "redeem" | "refresh" | "revoke" | "register" | "userinfo",
    call: Promise<T>,
    outcomeOf: (result: T) => string = () => "ok",
  ): Promise<T> => {
    try {
      const result = await call;
      metrics.countVendorCall(vendor, operation, outcomeOf(result));
      return result;
    } catch (error) {
      metrics.countVendorCall(vendor, operation, toOAuthError(error).code);
      throw error;
    }
  };
  return {
    ...client,
    redeemCode: (vendor, ...rest) => counted(vendor.id, "redeem", client.redeemCode(vendor, ...rest)),
    refreshTokens: (vendor, ...rest) => counted(vendor.id, "refresh", client.refreshTokens(vendor, ...rest)),
    revokeToken: (vendor, ...rest) => counted(vendor.id, "revoke", client.revokeToken(vendor, ...rest)),
    revokeGrant: (vendor, ...rest) => counted(vendor.id, "revoke", client.revokeGrant(vendor, ...rest)),
    identify: (vendor, ...rest) => counted(vendor.id, "userinfo", client.identify(vendor, ...rest)),
    registerClient: (vendor, request) =>
      counted(vendor.id, "register", client.registerClient(vendor, request), registrationOutcome),
  };
}
