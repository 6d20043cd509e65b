/**
 * The base of all simulated vendors: a server on loopback, its apps, its tokens, its sign-in and
 * consent, a record of the requests, and the list of refusals a test has requested. A vendor adds
 * its routes and its rules.
 */
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { machineClock } from "../../clock.ts";
import { listen } from "../../listen.ts";
import { createQueue } from "../../vendor-requests.ts";
import { bearerToken } from "./clients.ts";
import { serveConsent } from "./consent.ts";
import { queryMembers, readMembers, type Members } from "./members.ts";
import { createRecorder } from "./record.ts";
import type { RefusalPoint, SimulatedClient, SimulatorOptions, VendorEnv } from "./simulator.ts";
import { createTokens, type HeldToken } from "./tokens.ts";

/** What a vendor adds its endpoints to. */
export type VendorHost<Client extends SimulatedClient> = Awaited<ReturnType<typeof startVendorHost<Client>>>;

/** The interface of every simulated vendor for the test, the sandbox or the benchmark that started it. */
export type VendorSimulator<Client extends SimulatedClient = SimulatedClient> = ReturnType<
  VendorHost<Client>["simulator"]
>;

/**
 * @param vendor.brand shown on the pages
 * @throws Error of node:net when the port is taken
 */
export async function startVendorHost<Client extends SimulatedClient = SimulatedClient>(
  vendor: { readonly id: string; readonly brand: string },
  { now = machineClock, port = 0, homeUrl }: SimulatorOptions,
) {
  const listening = await listen(port);
  const { url } = listening;
  const app = new Hono<VendorEnv>();
  const recorder = createRecorder();
  app.use(recorder.middleware);
  const clients = new Map<string, Client>();
  const tokens = createTokens({ now });
  const consent = serveConsent(app, vendor.brand, { cookie: `${vendor.id}-${listening.port}`, homeUrl });
  const refusals = createQueue<string>();
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  listening.server.on("request", (request, response) => void answer(request, response));

  const grants = new Map<string, Set<string>>();
  const takeRefusal = (at: RefusalPoint): string | undefined => refusals.take(at);
  const allowed = (user: string, clientId: string): Set<string> => {
    const key = JSON.stringify([user, clientId]);
    const known = grants.get(key) ?? new Set();
    grants.set(key, known);
    return known;
  };
  const disconnect = (user: string, clientId: string): void => {
    tokens.endGrants((grant) => grant.user === user && grant.clientId === clientId);
    allowed(user, clientId).clear();
  };

  return {
    url,
    app,
    now,
    clients,
    tokens,
    consent,
    /** What a user has allowed an app so far, in the vendor's own words; `disconnect` clears it. */
    allowed,
    /** The token of the Authorization header, if it is a live access token. */
    access(c: Context<VendorEnv>): HeldToken | undefined {
      const token = tokens.find(bearerToken(c), "access");
      return token?.state === "live" ? token : undefined;
    },
    /** Serves an endpoint that takes the members of a body, or of a query with GET. */
    serve(
      path: string,
      at: RefusalPoint,
      refuse: (error: string, c: Context<VendorEnv>) => Response,
      handle: (c: Context<VendorEnv>, members: Members) => Response | Promise<Response>,
      methods: readonly string[] = ["POST"],
    ): void {
      app.on([...methods], path, async (c) => {
        const refused = takeRefusal(at);
        if (refused !== undefined) return refuse(refused, c);
        return handle(c, c.req.method === "GET" ? queryMembers(c) : await readMembers(c));
      });
    },
    /** The error a test requires here, once. Call it at the start of the endpoint's work. */
    takeRefusal,
    disconnect,
    /**
     * What the vendor's start function returns; its own switches are added to it.
     *
     * @param endpoints what an operator writes under `vendors.<id>` in broker.yaml to point the entry here: `issuer`,
     *   `authorization_endpoint`, `token_endpoint` and, if the vendor has them, `refresh_endpoint`,
     *   `revocation_endpoint`, `registration_endpoint`, `jwks_uri`, `userinfo_endpoint`,
     *   `introspection_endpoint`
     * @param errors those `refuseNext` can cause, by where
     */
    simulator: (
      endpoints: Readonly<Record<string, string>>,
      errors: Readonly<Partial<Record<RefusalPoint, readonly string[]>>>,
    ) => ({
      /** The broker's id of this vendor, e.g. `github`. */
      id: vendor.id,
      /** `http://127.0.0.1:PORT` */
      url,
      endpoints,
      /** Adds an app, or replaces the one of the same id (its tokens stay). */
      addClient(client: Client): void {
        clients.set(client.clientId, client);
      },
      errors,
      /**
       * The next request there is refused with this error of the vendor, in the vendor's own form.
       *
       * @throws Error when it is not in `errors`
       */
      refuseNext(at: RefusalPoint, error: string): void {
        if (errors[at]?.includes(error) !== true) throw new Error(`${vendor.id} has no ${at} error ${error}`);
        refusals.next(at, error);
      },
      /**
       * The next request to this path fails below the vendor's protocol: cut, hung, lost, another
       * body.
       */
      faultNext: recorder.faultNext,
      /** Oldest first. */
      requests: recorder.all,
      /** Access and refresh tokens that are valid now; of one user, or of all. */
      liveTokens: (user?: string): readonly string[] =>
        tokens
          .live()
          .filter(({ grant }) => user === undefined || grant.user === user)
          .map(({ value }) => value),
      isLive: (token: string): boolean => tokens.find(token)?.state === "live",
      /** Ends everything a user allowed this app, as from the vendor's settings page. */
      disconnect,
      /** Ends open connections too. */
      close: listening.close,
    }),
  };
}

/** The way back to the app: the answer, and what always comes with it. A query the app registered stays. */
export function wayBack(
  redirectUri: string,
  always: Readonly<Record<string, string | undefined>>,
): (answer: Readonly<Record<string, string | undefined>>) => { readonly redirect: string } {
  return (answer) => {
    const url = new URL(redirectUri);
    const parameters = Object.entries({ ...answer, ...always });
    for (const [name, value] of parameters) if (value !== undefined) url.searchParams.append(name, value);
    return { redirect: url.href };
  };
}
