/**
 * A token endpoint on loopback that refreshes as one of the models, and fails on request. Processes
 * under test use it over HTTP; the test that started it reads which tokens the vendor considers
 * live and how often it was called.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { machineClock } from "../clock.ts";
import {
  type Respond,
  type ScriptedAnswer,
  type ScriptedRequest,
  sendAnswer,
  startScriptedVendor,
} from "../scripted-vendor.ts";
import { createModel, type IssuedTokens, type ModelOptions, type ModelState } from "./models.ts";

/** A fault of requests to the token endpoint, until it is removed. */
export interface RefreshFault {
  /** Before the vendor does anything. */
  readonly delayBeforeMs?: number;
  /** After its work, before the response. */
  readonly delayAfterMs?: number;
  /**
   * - `unavailable`: 503, nothing done. `invalid_grant`: 400, nothing done.
   * - `drop`: the work is done, the connection is cut. `half`: the same, after half of the
   *   response.
   */
  readonly answer?: "unavailable" | "invalid_grant" | "drop" | "half";
  /** Only this user's requests; default all. */
  readonly user?: string;
  /** This many requests; default until it is removed. */
  readonly times?: number;
}

/** One request, stopped at a point until released. */
export interface Held {
  /** Resolves when a request arrives. */
  readonly reached: Promise<void>;
  release(): void;
}

export interface RefreshVendor extends Pick<ModelState, "authorize" | "revoke" | "live" | "counts"> {
  readonly url: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  /**
   * Responds `{sub}` to a live access token, else 401. This is the use that `retry-until-used`
   * refers to.
   */
  readonly userinfoEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requests to the token endpoint, including invalid ones. */
  calls(): number;
  /** The maximum of concurrent requests at the token endpoint. */
  inFlightPeak(): number;
  fault(fault: RefreshFault | undefined): void;
  /**
   * Stops the next request with a refresh token of this user, before or after the vendor's work.
   */
  hold(user: string, when: "before" | "after"): Held;
  close(): Promise<void>;
}

export interface RefreshVendorOptions extends Omit<ModelOptions, "now"> {
  readonly now?: ModelOptions["now"];
}

const INVALID_GRANT: ScriptedAnswer = { status: 400, body: { error: "invalid_grant" } };

export async function startRefreshVendor(options: RefreshVendorOptions): Promise<RefreshVendor> {
  const model = createModel({ ...options, now: options.now ?? machineClock });
  const [clientId, clientSecret] = ["refresh-client", "a secret of the refresh client"];
  const holds: { user: string; when: "before" | "after"; reach: () => void; released: Promise<void> }[] = [];
  let fault: RefreshFault | undefined;
  let faultsLeft = 0;
  let calls = 0;
  let inFlight = 0;
  let peak = 0;

  const takeFault = (user: string | undefined): RefreshFault => {
    if (fault === undefined || faultsLeft === 0) return {};
    if (fault.user !== undefined && fault.user !== user) return {};
    faultsLeft -= 1;
    return fault;
  };
  const pauseAt = async (user: string | undefined, when: "before" | "after"): Promise<void> => {
    const index = holds.findIndex((hold) => hold.user === user && hold.when === when);
    const [hold] = index === -1 ? [] : holds.splice(index, 1);
    hold?.reach();
    await hold?.released;
  };

  const refresh: Respond = async ({ form }, response) => {
    const refreshToken = form.get("refresh_token") ?? "";
    const user = model.ownerOf(refreshToken);
    const { delayBeforeMs = 0, delayAfterMs = 0, answer } = takeFault(user);
    await sleep(delayBeforeMs);
    await pauseAt(user, "before");
    if (answer === "unavailable") return { status: 503, body: { error: "temporarily_unavailable" } };
    if (answer === "invalid_grant") return INVALID_GRANT;
    const result = model.refresh(refreshToken);
    await sleep(delayAfterMs);
    await pauseAt(user, "after");
    const whole = result === "refused" ? INVALID_GRANT : { body: wireTokens(result) };
    if (answer === undefined) return whole;
    if (answer === "half") sendAnswer(response, whole, 0.5);
    else response.destroy();
    return undefined;
  };

  const token: Respond = async (request, response) => {
    calls += 1;
    inFlight += 1;
    peak = Math.max(peak, inFlight);
    try {
      return refusalOf(request, { clientId, clientSecret }) ?? (await refresh(request, response));
    } finally {
      inFlight -= 1;
    }
  };
  const userinfo: Respond = ({ headers }) => {
    const user = model.use(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "");
    return user === undefined ? { status: 401, body: { error: "invalid_token" } } : { body: { sub: user } };
  };
  const revoke: Respond = ({ form }) => {
    model.revoke(form.get("token") ?? "");
    return { body: {} };
  };
  const script = { "/token": token, "/revoke": revoke, "/userinfo": userinfo };
  const { url, close } = await startScriptedVendor(script, { keepsRequests: false });

  return {
    url,
    tokenEndpoint: `${url}/token`,
    revocationEndpoint: `${url}/revoke`,
    userinfoEndpoint: `${url}/userinfo`,
    clientId,
    clientSecret,
    authorize: model.authorize,
    revoke: model.revoke,
    live: model.live,
    counts: model.counts,
    calls: () => calls,
    inFlightPeak: () => peak,
    fault(next) {
      fault = next;
      faultsLeft = next?.times ?? Number.POSITIVE_INFINITY;
    },
    hold(user, when) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      holds.push({ user, when, reach: reached.resolve, released: released.promise });
      return { reached: reached.promise, release: released.resolve };
    },
    close,
  };
}

/** The refusals of a token endpoint that precede the check of the refresh token. */
function refusalOf(
  { headers, form }: ScriptedRequest,
  client: { readonly clientId: string; readonly clientSecret: string },
): ScriptedAnswer | undefined {
  const type = (headers["content-type"] ?? "").split(";", 1)[0];
  if (type !== "application/x-www-form-urlencoded") return { status: 400, body: { error: "invalid_request" } };
  const [id, secret] = basicCredentials(headers.authorization) ?? [form.get("client_id"), form.get("client_secret")];
  if (id !== client.clientId || secret !== client.clientSecret) {
    return { status: 401, body: { error: "invalid_client" } };
  }
  if (form.get("grant_type") !== "refresh_token") return { status: 400, body: { error: "unsupported_grant_type" } };
  const isOne = form.getAll("refresh_token").length === 1 && form.get("refresh_token") !== "";
  return isOne ? undefined : { status: 400, body: { error: "invalid_request" } };
}

function basicCredentials(authorization = ""): readonly string[] | undefined {
  const encoded = /^Basic (.+)$/.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, "base64").toString();
  const at = decoded.indexOf(":");
  return [decoded.slice(0, at), decoded.slice(at + 1)].map((part) => decodeURIComponent(part.replaceAll("+", " ")));
}

function wireTokens({ accessToken, refreshToken, expiresInSeconds }: IssuedTokens): object {
  return {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
}
