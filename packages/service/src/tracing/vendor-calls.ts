/**
 * Watches an app's calls to vendors, without a change to the vendor client: each is logged as
 * `vendor_call`, counted, and a span. For discovery these are only failures: most vendors are
 * resolved from what is kept.
 */
import { toOAuthError } from "@oauth-broker/oauth-core";
import { requestContext } from "../request-context.ts";
import {
  type AccessTokenCheck,
  asksAccount,
  type RegistrationAnswer,
  type VendorClient,
} from "@oauth-broker/oauth-core/vendor-client";
import { type Log, outboundErrorOf } from "../log.ts";
import { endSpan, startVendorSpan } from "./spans.ts";

/** What a call to a vendor is for. */
export type VendorOperation =
  | "discover"
  | "redeem"
  | "refresh"
  | "revoke"
  | "register"
  | "userinfo"
  | "account"
  | "validate"
  | "check";

/** Counts vendor calls; `ServiceMetrics` of `/metrics` does. */
export interface VendorCallMetrics {
  /**
   * @param vendor a vendor of the registry or the configuration; any other is counted as `other`
   */
  countVendorCall(vendor: string, operation: VendorOperation, outcome: string): void;
}

/** Where calls are reported. */
export interface VendorCallWatch {
  readonly log: Pick<Log, "info">;
  /** Absent: they are not counted. */
  readonly metrics?: VendorCallMetrics;
}

/** The same client; each of its calls is logged, counted and traced. */
export function watchedVendorClient(client: VendorClient, watch: VendorCallWatch): VendorClient {
  const watched = async <T>(
    { id: vendor }: { readonly id: string },
    operation: VendorOperation,
    call: () => Promise<T>,
    outcomeOf: (result: T) => string = () => OK,
  ): Promise<T> => {
    const startedAt = performance.now();
    const span = startVendorSpan(`${operation} ${vendor}`);
    const end = ({ outcome, outboundError }: Outcome): void => {
      const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
      report({ vendor, operation, outcome, durationMs, outboundError }, watch);
      const errorType = outcome === OK ? undefined : outcome;
      const facts = { "oauth_broker.vendor": vendor, "oauth_broker.operation": operation, "error.type": errorType };
      endSpan(span, facts, errorType !== undefined);
    };
    try {
      const result = await call();
      end({ outcome: outcomeOf(result) });
      return result;
    } catch (error) {
      end(failed(error));
      throw error;
    }
  };
  return {
    ...client,
    resolve: (vendor) =>
      client.resolve(vendor).catch((error: unknown) => {
        report({ vendor: vendor.id, operation: "discover", ...failed(error) }, watch);
        throw error;
      }),
    redeemCode: (vendor, ...rest) => watched(vendor, "redeem", () => client.redeemCode(vendor, ...rest)),
    refreshTokens: (vendor, ...rest) => watched(vendor, "refresh", () => client.refreshTokens(vendor, ...rest)),
    revokeToken: (vendor, ...rest) => watched(vendor, "revoke", () => client.revokeToken(vendor, ...rest)),
    revokeGrant: (vendor, ...rest) => watched(vendor, "revoke", () => client.revokeGrant(vendor, ...rest)),
    account: (vendor, ...rest) => watched(vendor, "account", () => client.account(vendor, ...rest), presence),
    validateAccessToken: (vendor, ...rest) =>
      watched(
        vendor,
        "validate",
        () => client.validateAccessToken(vendor, ...rest),
        ({ active }) => (active ? OK : REFUSED),
      ),
    identify: async (vendor, tokens) => {
      if (asksAccount(vendor, tokens)) return watched(vendor, "userinfo", () => client.identify(vendor, tokens));
      return client.identify(vendor, tokens);
    },
    checkAccessToken: (vendor, ...rest) =>
      watched(vendor, "check", () => client.checkAccessToken(vendor, ...rest), checkOutcome),
    registerClient: (vendor, request) =>
      watched(vendor, "register", () => client.registerClient(vendor, request), registrationOutcome),
  };
}

const OK = "ok";
const REFUSED = "refused";

/** The vendor refuses the token: no error of the call. */
function presence(account: object | undefined): string {
  return account === undefined ? REFUSED : OK;
}

/** A refusal is returned, not thrown: only its status shows the outcome. */
function registrationOutcome({ status }: RegistrationAnswer): string {
  return status < 400 ? OK : status < 500 ? REFUSED : "failed";
}

function checkOutcome({ active }: AccessTokenCheck): string {
  return active === null ? "unknown" : active ? OK : "inactive";
}

interface Outcome {
  readonly outcome: string;
  /** Why the vendor could not be reached. */
  readonly outboundError?: string | undefined;
}

function failed(error: unknown): Outcome {
  return { outcome: toOAuthError(error).code, outboundError: outboundErrorOf(error) };
}

interface Reported extends Outcome {
  readonly vendor: string;
  readonly operation: VendorOperation;
  /** Absent: unknown. */
  readonly durationMs?: number;
}

function report(call: Reported, { log, metrics }: VendorCallWatch): void {
  const { vendor, operation, outcome } = call;
  metrics?.countVendorCall(vendor, operation, outcome);
  const { flowId, clientId } = requestContext().request ?? {};
  log.info("vendor_call", { ...call, flowId, clientId });
}
