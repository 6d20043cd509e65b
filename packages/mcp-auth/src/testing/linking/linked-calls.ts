/**
 * `/mcp` of a server of several vendors, with the links in memory: a test says what
 * each user has linked, sees what is asked, and decides in the user's place. The vendors' APIs
 * answer with the token they were sent.
 */
import type { Client } from "@modelcontextprotocol/client";
import { defined, Secret } from "@oauth-broker/oauth-core";
import { defineVendor, type ResolvedVendor, type ScopeRefusal } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { prefixScopes, scopesOfVendor } from "../../hosted/link-policy/scope.ts";
import type { Caller, CallerLinks, LinkRequest, TicketState, UserLink } from "../../mode.ts";
import type { ServerDefinition } from "../../server.ts";
import type { Tool } from "../../tool.ts";
import { type Closing, closing } from "../closing.ts";
import { openTestEndpoint } from "../test-endpoint.ts";
import { rawRequest } from "./raw-calls.ts";

export const NOW = 1_700_000_000;
export const WAIT_SECONDS = 25;
const TICKET_SECONDS = 600;
/** `VENDOR_<ID>_SCOPES` of the vendors. */
export const CONFIGURED = {
  github: ["repo", "user"],
  slack: ["chat:write", "users:read"],
  google: ["mail"],
} as const;
export type VendorId = keyof typeof CONFIGURED;

/** A ticket as the server would store it. */
export interface TestTicket extends LinkRequest {
  readonly id: string;
  readonly url: string;
  readonly user: string;
  readonly expiresAt: number;
  state: TicketState;
}

export interface LinkedCalls extends Closing {
  readonly url: string;
  readonly clock: ReturnType<typeof fixedClock>;
  /** What users were asked, in order. */
  readonly tickets: TestTicket[];
  /** Requests at the vendors: where, and with which token. */
  readonly sent: string[];
  readonly lines: string[];
  /** The scopes of the session of a bearer token; default: every scope of every vendor. */
  readonly scopes: Map<string, readonly string[]>;
  /** The process stops. */
  stop(): void;
  /** Called at each pause of a waiting call, with the number of pauses so far. */
  onPause: (count: number, signal: AbortSignal) => unknown;
  /** How a vendor's API answers; default: 200 with the token. */
  onVendor: (url: string, token: string) => Response;
  /** Makes what `ticket` asks for so. */
  link(ticket: TestTicket): void;
  setLink(
    user: string,
    vendor: VendorId,
    link: Partial<Extract<UserLink, { state: "usable" }>> | "missing" | { dead: readonly string[] | undefined },
  ): void;
  /**
   * A client, which is closed with the server.
   *
   * @param bearer `user.client`, and a suffix that makes it another session of these
   */
  connect(bearer: string, era: "auto" | "legacy", onUrl?: OnUrl | "no_elicitation"): Promise<Client>;
  /** A raw request. @param message as JSON, or the body as it stands */
  send(bearer: string, message: object | string, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
}

/** Instead of the user: opens the URL or not. */
export type OnUrl = (url: string, message: string) => "accept" | "decline" | "cancel";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test looks into
  readonly body: any;
}

const USERS = ["alice", "bob"];
const everyScope = Object.entries(CONFIGURED).flatMap(([id, scopes]) => prefixScopes(scopes, id));

export async function openLinkedCalls(
  tools: readonly Tool[],
  {
    definition = {},
    scopeRefusal,
  }: {
    readonly definition?: Partial<ServerDefinition>;
    /** Of every vendor's entry. */
    readonly scopeRefusal?: ScopeRefusal;
  } = {},
): Promise<LinkedCalls> {
  const clock = fixedClock(NOW);
  const sent: string[] = [];
  const tickets: TestTicket[] = [];
  const stored = new Map<string, UserLink>();
  const scopes = new Map<string, readonly string[]>();
  const keys = { "request-state": Buffer.alloc(32, 1), "mcp-session": Buffer.alloc(32, 2) };
  const stopping = new AbortController();
  let pauses = 0;
  const callerLinks = (user: string, scope: readonly string[]): CallerLinks => ({
    sessionScope: (vendor) => scopesOfVendor(scope, vendor),
    read: async (vendor) => stored.get(`${user} ${vendor}`) ?? { state: "missing" },
    ask: async (question) => {
      const open = tickets.find(
        (one) => one.user === user && one.state === "open" && isSameRequest(one, question) && one.expiresAt > clock(),
      );
      if (open !== undefined) return open;
      const id = `id-${tickets.length + 1}`;
      const url = `https://server.example/connect/${tickets.length + 1}`;
      const ticket = { ...question, id, url, user, expiresAt: clock() + TICKET_SECONDS, state: "open" as const };
      tickets.push(ticket);
      return ticket;
    },
    ticketState: async (id) => tickets.find((one) => one.id === id && one.user === user)?.state ?? "gone",
    cancel: async (id) => {
      const ticket = tickets.find((one) => one.id === id && one.user === user);
      if (ticket !== undefined) ticket.state = "gone";
    },
  });
  const fixture: Pick<LinkedCalls, "onPause" | "onVendor"> = {
    onPause: () => undefined,
    onVendor: (_, token) => Response.json({ token }),
  };
  const deps: Parameters<typeof openTestEndpoint>[1] = {
    authenticate: async (bearer) => {
      const [user = "", clientId = ""] = bearer.split(".");
      if (!USERS.includes(user)) return undefined;
      const scope = scopes.get(bearer) ?? everyScope;
      const caller: Caller = {
        user,
        scope,
        vendorScope: undefined,
        expiresAt: 4_000_000_000,
        clientId,
        links: callerLinks(user, scope),
        vendorToken: async () => {
          throw new Error("not with VENDORS");
        },
        refused: async () => undefined,
      };
      return caller;
    },
    resourceMetadata: "https://server.example/.well-known/oauth-protected-resource/mcp",
    scope: everyScope.join(" "),
    names: { id: "github", name: "GitHub" },
    apiHosts: ["api.github.example"],
    fetch: async (input, init) => {
      const token = new Headers(init?.headers).get("authorization")?.slice("Bearer ".length) ?? "";
      sent.push(`${String(input)} ${token}`);
      return fixture.onVendor(String(input), token);
    },
    vendorClient: { account: async (_, token) => ({ token }) },
    linking: {
      vendors: new Map(
        Object.entries(CONFIGURED).map(([id, scopes]) => [
          id,
          {
            vendor: defineVendor({ id, name: `The ${id}`, ...defined({ scopeRefusal }) }),
            apiHosts: [`api.${id}.example`],
            scopes,
          },
        ]),
      ),
      resolve: async ({ id }) => ({ authorizationEndpoint: `https://${id}.example/authorize` }) as ResolvedVendor,
      signIn: "github",
      source: { vendor: "github", issuer: "github.example" },
      mostTickets: 5,
      elicitationWaitSeconds: WAIT_SECONDS,
      connectionsUrl: "https://server.example/connections",
      seals: { derive: async (purpose) => keys[purpose] },
      now: clock,
      nameScopes: prefixScopes,
      stopping: stopping.signal,
      pause: async (milliseconds, signal) => {
        clock.advance(milliseconds / 1_000);
        pauses += 1;
        await fixture.onPause(pauses, signal);
      },
    },
  };
  const endpoint = await openTestEndpoint({ tools, ...definition }, deps);
  const url = endpoint.url.href;
  const setLink: LinkedCalls["setLink"] = (user, vendor, link) => {
    if (link === "missing" || "dead" in link) {
      const dead = { state: "dead", scope: link === "missing" ? undefined : link.dead } as const;
      return void stored.set(`${user} ${vendor}`, link === "missing" ? { state: link } : dead);
    }
    const accessToken = new Secret(`${vendor}-token-of-${user}`);
    const refused = async () => {
      stored.set(`${user} ${vendor}`, { state: "dead", scope: undefined });
      return undefined;
    };
    stored.set(`${user} ${vendor}`, {
      state: "usable",
      scope: CONFIGURED[vendor],
      notGranted: [],
      lacks: async () => true,
      vendorToken: async () => ({ accessToken, version: 1 }),
      refused,
      ...link,
    });
  };
  const opened = Object.assign(fixture, {
    scopes,
    url,
    clock,
    tickets,
    sent,
    lines: endpoint.lines,
    setLink,
    stop: () => stopping.abort(),
    link: (ticket: TestTicket) => {
      ticket.state = "linked";
      setLink(ticket.user, ticket.vendor as VendorId, { scope: ticket.scopes });
    },
    connect: async (
      bearer: string,
      era: "auto" | "legacy",
      onUrl: OnUrl | "no_elicitation" = () => "accept" as const,
    ) =>
      onUrl === "no_elicitation"
        ? endpoint.connect(bearer, era)
        : endpoint.connect(bearer, era, { elicitation: { url: {} } }, (client) =>
            client.setRequestHandler("elicitation/create", async ({ params }) => ({
              action: onUrl("url" in params ? String(params.url) : "", params.message),
            })),
          ),
    send: async (bearer: string, message: object | string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(url, rawRequest(bearer, message, headers));
      const text = await answer.text();
      const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "null");
      return { status: answer.status, headers: answer.headers, text, body: parsed(json) };
    },
  });
  return closing(opened, endpoint.close);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isSameRequest(one: LinkRequest, other: LinkRequest): boolean {
  return one.vendor === other.vendor && one.scopes.join(" ") === other.scopes.join(" ");
}
