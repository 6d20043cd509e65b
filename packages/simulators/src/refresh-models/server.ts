/**
 * A token endpoint on loopback that refreshes as one of the models. Processes under test use it over
 * HTTP; the test that started it reads which tokens the vendor considers live and how often it was
 * called.
 */
import { machineClock } from "../clock.ts";
import {
  refusal,
  type Respond,
  type ScriptedAnswer,
  type ScriptedRequest,
  startScriptedVendor,
} from "../scripted-vendor.ts";
import { createModel, type ModelOptions } from "./models.ts";

export type RefreshVendor = Awaited<ReturnType<typeof startRefreshVendor>>;

const CLIENT = { clientId: "refresh-client", clientSecret: "a secret of the refresh client" };

export async function startRefreshVendor(options: Omit<ModelOptions, "now">) {
  const { authorize, live, counts, ownerOf, refresh } = createModel({ ...options, now: machineClock });
  const holds = new Map<string, { reach: () => void; readonly released: Promise<void> }>();
  let calls = 0;
  const token: Respond = async (request) => {
    calls += 1;
    const refused = refusalOf(request);
    if (refused !== undefined) return refused;
    const refreshToken = request.form.get("refresh_token") ?? "";
    const result = refresh(refreshToken);
    const user = ownerOf(refreshToken) ?? "";
    const hold = holds.get(user);
    holds.delete(user);
    hold?.reach();
    await hold?.released;
    if (result === "refused") return refusal("invalid_grant");
    const { accessToken, refreshToken: next, expiresInSeconds } = result;
    const tokens = { access_token: accessToken, token_type: "Bearer", expires_in: expiresInSeconds };
    return { body: { ...tokens, ...(next === undefined ? {} : { refresh_token: next }) } };
  };
  const { url, close } = await startScriptedVendor({ "/token": token }, { keepsRequests: false });
  return {
    tokenEndpoint: `${url}/token`,
    ...CLIENT,
    authorize,
    live,
    counts,
    /** Requests to the token endpoint, including invalid ones. */
    calls: (): number => calls,
    /**
     * Stops the next request with a refresh token of this user, after the vendor's work.
     *
     * @returns `reached` resolves when it arrives
     */
    hold(user: string) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      holds.set(user, { reach: reached.resolve, released: released.promise });
      return { reached: reached.promise, release: released.resolve };
    },
    close,
  };
}

/** The refusals of a token endpoint that precede the check of the refresh token. */
function refusalOf({ headers: { authorization = "" }, form }: ScriptedRequest): ScriptedAnswer | undefined {
  const pair = `${CLIENT.clientId}:${encodeURIComponent(CLIENT.clientSecret)}`;
  const isInHeader = authorization === `Basic ${Buffer.from(pair).toString("base64")}`;
  const isInBody = form.get("client_id") === CLIENT.clientId && form.get("client_secret") === CLIENT.clientSecret;
  if (!isInHeader && !isInBody) return refusal("invalid_client", 401);
  if (form.get("grant_type") !== "refresh_token") return refusal("unsupported_grant_type");
  return form.getAll("refresh_token").length === 1 ? undefined : refusal("invalid_request");
}
