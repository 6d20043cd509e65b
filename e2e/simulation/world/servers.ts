/**
 * Deployed servers in hosted mode: several processes of one deployment over one store, built by
 * their composition root on the ports of the simulation. Users sign in at `home` and link `acme`,
 * which the only tool asks whose account it is.
 */
import { Secret } from "@oauth-broker/oauth-core";
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { createLog } from "@oauth-broker/service";
import { createTokenStore, type RowKey, type TokenRows } from "@oauth-broker/token-store";
import { memoryTokenRows } from "@oauth-broker/token-store/memory";
import { defineTool, z } from "@oauth-broker/mcp-auth";
import { createApp, type McpApp } from "../../../packages/mcp-auth/src/app.ts";
import { severalVendors } from "../../../packages/mcp-auth/src/hosted/link-policy/link-policy.ts";
import { requireSignIn } from "../../../packages/mcp-auth/src/hosted/sessions/sign-in-source.ts";
import type { HostedSettings, HostedVendorSettings } from "../../../packages/mcp-auth/src/settings.ts";
import { hostedSettings, SERVER } from "../../../packages/mcp-auth/src/testing/hosted-settings.ts";
import { checkRow } from "../invariants/stages.ts";
import {
  clockOf,
  type Fleet,
  type Life,
  portIn,
  type Program,
  startFleet,
  startUp,
  storeOf,
  timerOf,
} from "./fleet.ts";
import { createDistance } from "./distance.ts";
import { createKeyService } from "./key-service.ts";
import { begin, type Beginning } from "./network.ts";
import type { Random } from "../../support/seeded.ts";
import type { Choose } from "./scheduler.ts";
import { createSharedStore, type Weaken } from "./store.ts";
import { createVendor, type SimulatedVendor, vendorAt, type VendorClient } from "./vendor.ts";

export const TOOL = "account";
const SCOPES = ["read"];
export const TABLE = "simulated";
export const ENVIRONMENT = "local";

/** The deployment's client at this vendor. */
const clientAt = (id: string): VendorClient => ({ id: "ours", secrets: [`the server's secret at ${id}`] });

const settingsOf = (id: string): HostedVendorSettings => ({
  vendor: vendorAt(id, { identity: { from: "token_response", members: ["account"] }, issuesIdTokens: false }),
  credentials: {
    id: "env",
    source: "environment",
    clientId: clientAt(id).id,
    clientSecret: new Secret(clientAt(id).secrets[0] ?? ""),
  },
  scopes: SCOPES,
  apiHosts: [],
});

const SIGN_IN = settingsOf("home");

export const SETTINGS: HostedSettings = hostedSettings({
  vendor: SIGN_IN,
  egress: { allowLoopback: false, allowCidrs: [] },
  links: severalVendors({
    vendors: new Map([
      ["home", SIGN_IN],
      ["acme", settingsOf("acme")],
    ]),
    signIn: "home",
    elicitationWaitSeconds: 0,
    sessionMaxSeconds: 30 * 86_400,
    endLinksWithLastSession: false,
    adoptSignIn: false,
  }),
  callback: {
    kind: "server",
    redirectUri: `${SERVER}/callback`,
    clients: [],
    registration: { hosts: [] },
    clientMetadataHosts: [],
  },
});

const DEFINITION = {
  name: "simulated",
  version: "1.0.0",
  tools: [
    defineTool({
      name: TOOL,
      description: "Names the user's account",
      input: z.object({}),
      vendor: "acme",
      scopes: SCOPES,
      run: async (_input, { vendor }) => (await vendor.fetch("https://acme.example/me")).text(),
    }),
  ],
};

/** Token rows that all processes share, beside the records. */
function createSharedRows({ storeDistance: distance, scheduler, promises }: Beginning) {
  const rows = memoryTokenRows({ table: TABLE });
  return {
    of: (process: string): TokenRows => {
      const call = <T>(to: string, make: () => Promise<T>, { pk = "", sk = "" }: Partial<RowKey> = {}): Promise<T> =>
        distance.call(process, { to, place: `rows ${pk}${sk}`, isRead: !/write|delete/.test(to) }, make);
      return {
        table: rows.table,
        get: (key) => call("read tokens", () => rows.get(key), key),
        change: (key, ...given) => {
          const change = async (): ReturnType<TokenRows["change"]> => {
            const before = await rows.get(key);
            const outcome = await rows.change(key, ...given);
            checkRow(before, await rows.get(key), clockOf(scheduler)(), promises);
            return outcome;
          };
          return call("write tokens", change, key);
        },
        delete: (key, ...given) => call("delete tokens", () => rows.delete(key, ...given), key),
        partition: (pk) => call("list tokens", () => rows.partition(pk), { pk }),
        scan: (options) => call("scan tokens", () => rows.scan(options)),
        ping: () => call("answer", () => rows.ping()),
        close: async () => {},
      };
    },
  };
}

/** So that tokens are refreshed again and again within minutes. */
const LIFETIME_SECONDS = 100;

/** What all processes share, whether whole servers run or only parts of them. */
export type Surroundings = ReturnType<typeof createSurroundings>;
export function createSurroundings(choose: Choose, random: Random | undefined, weaken?: Weaken) {
  const beginning = begin(choose, random);
  const store = createSharedStore(beginning, weaken);
  const keyService = createKeyService(createDistance({ name: "key service", reason: "kms_unavailable" }, beginning));
  const vendorOf = (name: string): SimulatedVendor =>
    createVendor({
      ...beginning,
      clients: [clientAt(name)],
      name,
      lifetimeSeconds: LIFETIME_SECONDS,
      replayedMs: Infinity,
      takesLostCodes: true,
    });
  /** By host. */
  const vendors: ReadonlyMap<string, SimulatedVendor> = new Map(
    ["home", "acme"].map((name) => [`${name}.example`, vendorOf(name)]),
  );
  return { ...beginning, store, rows: createSharedRows(beginning), keyService, vendors };
}

/** @param aheadSeconds for each process, how far its clock is ahead */
export async function startServers(world: Surroundings, aheadSeconds: readonly number[]): Promise<Fleet<Program>> {
  const { vendors, tell } = world;
  const start = async (index: number, life: Life): Promise<Program> =>
    startServer(index, life, world, aheadSeconds[index]);
  const fleet = await startFleet({ name: "server", count: aheadSeconds.length, tell, start });
  return {
    ...fleet,
    crash: async (index) => {
      for (const vendor of vendors.values()) vendor.crashed(nameOf(index));
      await fleet.crash(index);
    },
  };
}

const nameOf = (index: number): string => `server ${index + 1}`;

/** What one process has of the world, and its token store. */
export type Ports = ReturnType<typeof portsOf>;
/** @param life default: it does not crash */
export function portsOf(
  index: number,
  { scheduler, vendors, promises, ...shared }: Surroundings,
  life: Life = { isOver: false },
  aheadSeconds?: number,
) {
  const name = nameOf(index);
  const now = clockOf(scheduler, aheadSeconds);
  const timer = timerOf(life, scheduler.timerOf(name));
  const rows = portIn(life, shared.rows.of(name));
  const keys = portIn(life, shared.keyService.of(name));
  const tokens = createTokenStore({
    rows,
    keys,
    mode: "encrypted",
    environment: ENVIRONMENT,
    now,
    timer,
    onEvent: (event) => promises.wrote(JSON.stringify(event)),
  });
  return { now, timer, rows, keys, tokens, outside: portIn(life, egressTo(vendors, name, life)) };
}

function startServer(index: number, life: Life, world: Surroundings, aheadSeconds: number | undefined): Program {
  const { store, promises } = world;
  const { now, timer, keys, tokens, outside } = portsOf(index, world, life, aheadSeconds);
  const log = createLog({ write: (line: string) => promises.wrote(line) }, now.milliseconds);
  const records = storeOf(life, store.of(nameOf(index), now));
  const storage = {
    tokens,
    records,
    keys,
    context: { environment: ENVIRONMENT, table: TABLE },
    ping: async () => void (await Promise.all([tokens.ping(), records.ping()])),
    close: async () => {},
  };
  const server: McpApp = createApp(DEFINITION, SETTINGS, { now, timer, openEgress: () => outside, log, storage });
  // It listens only when it is known whose users the sessions are.
  let isListening = false;
  const learn = async (): Promise<boolean> => {
    await requireSignIn(SETTINGS, storage);
    return (isListening = true);
  };
  void startUp(life, timer, () => learn().catch(() => false));
  return {
    app: {
      fetch: async (request) => {
        if (!isListening) throw new Error("the connection was refused");
        return server.app.fetch(request, {});
      },
    },
    // Nothing runs any more once the scheduler has stopped; what waits then waits for ever.
    close: async () => {},
  };
}

function egressTo(vendors: Surroundings["vendors"], name: string, life: Life): Egress {
  const ways = new Map([...vendors].map(([host, vendor]) => [host, vendor.egressOf(name, life)]));
  const fetch: Egress["fetch"] = async (input, init) => {
    const way = ways.get(new URL(String(input)).host);
    if (way === undefined) throw new Error("there is no such host");
    return way.fetch(input, init);
  };
  return { fetch, fetchUntrusted: fetch, close: async () => {} };
}
