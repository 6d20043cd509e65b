/**
 * The base of all simulated vendors: a server on loopback, its apps, its tokens, its sign-in and
 * consent, a record of the requests, and the list of refusals a test has requested. A vendor adds
 * its routes and its rules.
 */
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { machineClock, type Clock } from "../../clock.ts";
import { listen } from "../../listen.ts";
import { bearerToken, createClients, type Clients } from "./clients.ts";
import { serveConsent, type Consent } from "./consent.ts";
import { queryMembers, readMembers, type Members } from "./members.ts";
import { createRecorder } from "./record.ts";
import type { RefusalPoint, SimulatedClient, SimulatorOptions, VendorEnv, VendorSimulator } from "./simulator.ts";
import { createTokens, type HeldToken, type Tokens } from "./tokens.ts";

export interface VendorHost<Client extends SimulatedClient> {
  readonly url: string;
  readonly app: Hono<VendorEnv>;
  readonly now: Clock;
  readonly clients: Clients<Client>;
  readonly tokens: Tokens;
  readonly consent: Consent;
  /** What a user has allowed an app so far, in the vendor's own words; `disconnect` clears it. */
  allowed(user: string, clientId: string): Set<string>;
  /** The token of the Authorization header, if it is a live access token. */
  access(c: Context<VendorEnv>): HeldToken | undefined;
  /** Serves an endpoint that takes the members of a body, or of a query with GET. */
  serve(
    path: string,
    at: RefusalPoint,
    refuse: (error: string, c: Context<VendorEnv>) => Response,
    handle: (c: Context<VendorEnv>, members: Members) => Response | Promise<Response>,
    methods?: readonly string[],
  ): void;
  /** The error a test requires here, once. Call it at the start of the endpoint's work. */
  takeRefusal(at: RefusalPoint): string | undefined;
  /** Ends everything a user allowed this app; the next consent starts from nothing. */
  disconnect(user: string, clientId: string): void;
  /** What the vendor's start function returns; its own switches are added to it. */
  simulator(about: Pick<VendorSimulator, "endpoints" | "errors">): VendorSimulator<Client>;
}

/**
 * @param vendor.brand shown on the pages
 * @throws Error of node:net when the port is taken
 */
export async function startVendorHost<Client extends SimulatedClient = SimulatedClient>(
  vendor: { readonly id: string; readonly brand: string },
  { now = machineClock, port = 0, homeUrl }: SimulatorOptions,
): Promise<VendorHost<Client>> {
  const listening = await listen(port);
  const { url } = listening;
  const app = new Hono<VendorEnv>();
  const recorder = createRecorder();
  app.use(recorder.middleware);
  const clients = createClients<Client>();
  const tokens = createTokens({ now });
  const consent = serveConsent(app, vendor.brand, { cookie: `${vendor.id}-${listening.port}`, homeUrl });
  const refusals: { readonly at: RefusalPoint; readonly error: string }[] = [];
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  listening.server.on("request", (request, response) => void answer(request, response));

  const allowed = new Map<string, Set<string>>();
  const takeRefusal = (at: RefusalPoint): string | undefined => {
    const index = refusals.findIndex((refusal) => refusal.at === at);
    return index === -1 ? undefined : refusals.splice(index, 1)[0]?.error;
  };
  const allowedBy = (user: string, clientId: string): Set<string> => {
    const key = JSON.stringify([user, clientId]);
    const known = allowed.get(key) ?? new Set();
    allowed.set(key, known);
    return known;
  };
  const disconnect = (user: string, clientId: string): void => {
    tokens.endGrants((grant) => grant.user === user && grant.clientId === clientId);
    allowedBy(user, clientId).clear();
  };

  return {
    url,
    app,
    now,
    clients,
    tokens,
    consent,
    allowed: allowedBy,
    access(c) {
      const token = tokens.find(bearerToken(c), "access");
      return token?.state === "live" ? token : undefined;
    },
    serve(path, at, refuse, handle, methods = ["POST"]) {
      app.on([...methods], path, async (c) => {
        const refused = takeRefusal(at);
        if (refused !== undefined) return refuse(refused, c);
        return handle(c, c.req.method === "GET" ? queryMembers(c) : await readMembers(c));
      });
    },
    takeRefusal,
    disconnect,
    simulator: ({ endpoints, errors }) => ({
      id: vendor.id,
      url,
      endpoints,
      addClient: clients.add,
      errors,
      refuseNext(at, error) {
        if (errors[at]?.includes(error) !== true) throw new Error(`${vendor.id} has no ${at} error ${error}`);
        refusals.push({ at, error });
      },
      faultNext: recorder.faultNext,
      requests: recorder.all,
      liveTokens: (user) =>
        tokens
          .live()
          .filter(({ grant }) => user === undefined || grant.user === user)
          .map(({ value }) => value),
      isLive: (token) => tokens.find(token)?.state === "live",
      disconnect,
      close: listening.close,
    }),
  };
}

/** The way back to the app: the answer, and what always comes with it. */
export function wayBack(
  redirectUri: string,
  always: Readonly<Record<string, string | undefined>>,
): (answer: Readonly<Record<string, string | undefined>>) => { readonly redirect: string } {
  return (answer) => ({ redirect: callbackUrl(redirectUri, { ...answer, ...always }) });
}

/** The callback URL with the response parameters; a query the app registered stays. */
export function callbackUrl(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.append(name, value);
  return url.href;
}
