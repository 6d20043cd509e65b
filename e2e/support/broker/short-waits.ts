/** The limits of short-waits-broker.ts, for the tests that expect them. */
import { HTTP_TIMEOUTS, type HttpTimeouts } from "@oauth-broker/oauth-core/service";

/** How much shorter: still much longer than a busy machine may be late. */
export const SHARE = 5;

export const SHORT_HTTP_TIMEOUTS: Partial<HttpTimeouts> = {
  headersMs: HTTP_TIMEOUTS.headersMs / SHARE,
  requestMs: HTTP_TIMEOUTS.requestMs / SHARE,
  idleMs: HTTP_TIMEOUTS.idleMs / SHARE,
  checkMs: HTTP_TIMEOUTS.checkMs / SHARE,
};
