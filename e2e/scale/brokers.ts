/**
 * Brokers as an operator runs them, in one or several processes on one store, and flows through
 * them. Several processes have one base URL, as behind a load balancer, and every request of a flow
 * goes to the next one.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Connection, openConnection } from "../bench/connection.ts";
import { type Actor, createActor } from "../bench/flow.ts";
import { measureCpu, type MeasurementByProcess } from "../bench/measure.ts";
import { type ServerProcess, startServer } from "../bench/server-process.ts";
import type { Parties } from "../bench/subjects.ts";
import { freePort } from "../support/free-port.ts";
import { BROKER_BUNDLE } from "../support/paths.ts";

export interface BrokersOptions {
  /** An empty folder of theirs. */
  readonly folder: string;
  /**
   * As in broker.yaml: one of all processes, or one of each, which share nothing then; a flow stays
   * with one process.
   */
  readonly store: string | readonly string[];
  /** As in broker.yaml; default: where the store has them. */
  readonly keys?: string;
  readonly vendorUrl: string;
  /** Default 1. */
  readonly processes?: number;
  /** Clients in the configuration, and as many vendors; default 1. */
  readonly entries?: number;
  /** Of Node.js, before the file. */
  readonly flags?: readonly string[];
  /** Default: the bundle. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Brokers {
  readonly servers: readonly ServerProcess[];
  /** The first client at the first vendor. */
  readonly actor: Actor;
  /** A connection to each process, used in turn. */
  open(): Connection;
  /**
   * Whole flows, by clients and vendors in turn, the same number on each connection.
   * @param connections as many flows at once; default 32 for each process, so that each has as much
   *   to do as one alone
   */
  measure(flows: number, connections?: number): Promise<MeasurementByProcess>;
  /**
   * Opens so many connections, and makes as many flows on each, all at once.
   * @param meanwhile runs while all are open and idle
   */
  hold<T>(connections: number, flowsOfEach: number, meanwhile: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

const CONNECTIONS = 32;

export async function startBrokers(options: BrokersOptions): Promise<Brokers> {
  const { folder, store, keys, vendorUrl, processes = 1, entries = 1, flags = [], file = BROKER_BUNDLE, env } = options;
  const isApart = typeof store !== "string";
  const parties = Array.from({ length: entries }, (_, number) => createParties(number, vendorUrl));
  const ports: number[] = [];
  for (let number = 0; number < processes; number += 1) ports.push(await freePort());
  const baseUrl = `http://127.0.0.1:${ports[0]}`;
  const servers: ServerProcess[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())));
  try {
    for (const [number, port] of ports.entries()) {
      const own = join(folder, String(number));
      mkdirSync(own, { recursive: true });
      const yaml = brokerYaml({ baseUrl, port, store: isApart ? (store[number] ?? "") : store, keys }, parties);
      writeFileSync(join(own, "broker.yaml"), yaml, { mode: 0o600 });
      servers.push(
        await startServer({ name: `broker ${number}`, args: [...flags, file], folder: own, ...(env && { env }) }),
      );
    }
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const openOne = (number: number): Connection =>
    isApart ? openConnection(urls[number % urls.length]!) : openSpread(urls, number);
  const actors = parties.map((one) => createActor(baseUrl, one));
  const pids = servers.map(({ pid }) => pid);
  let next = 0;
  const flow = async (connection: Connection): Promise<void> => {
    next += 1;
    await actors[next % actors.length]?.flow(connection);
  };
  return {
    servers,
    actor: actors[0]!,
    open: () => openOne(0),
    measure: async (flows, connections = CONNECTIONS * processes) => {
      const open = Array.from({ length: connections }, (_, number) => openOne(number));
      try {
        await Promise.all(open.map(flow));
        const lane = async (connection: Connection, at: number): Promise<void> => {
          for (let done = at; done < flows; done += connections) await flow(connection);
        };
        return await measureCpu(pids, flows, async () => void (await Promise.all(open.map(lane))));
      } finally {
        await Promise.all(open.map((connection) => connection.close()));
      }
    },
    hold: async (connections, flowsOfEach, meanwhile) => {
      const open = Array.from({ length: connections }, (_, number) => openOne(number));
      try {
        for (let number = 0; number < flowsOfEach; number += 1) await Promise.all(open.map(flow));
        return await meanwhile();
      } finally {
        await Promise.all(open.map((connection) => connection.close()));
      }
    },
    stop,
  };
}

/** Each request goes to the next process, over one connection to each. */
function openSpread(urls: readonly string[], first: number): Connection {
  const connections = urls.map(openConnection);
  let at = first;
  const next = (): Connection => {
    at += 1;
    return connections[at % connections.length]!;
  };
  return {
    get: (path, headers) => next().get(path, headers),
    post: (path, form, headers) => next().post(path, form, headers),
    postJson: (path, text, headers) => next().postJson(path, text, headers),
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}

function createParties(number: number, vendorUrl: string): Parties {
  const secret = (): string => randomBytes(32).toString("base64url");
  return {
    clientId: `platform-${number}`,
    clientSecret: secret(),
    redirectUri: `https://platform-${number}.example/oauth/vendor-callback`,
    vendor: {
      id: `bench-${number}`,
      authorizationEndpoint: `${vendorUrl}/authorize`,
      tokenEndpoint: `${vendorUrl}/token`,
      clientId: `broker-${number}`,
      clientSecret: secret(),
    },
  };
}

interface Place {
  readonly baseUrl: string;
  readonly port: number;
  readonly store: string;
  readonly keys: string | undefined;
}

function brokerYaml({ baseUrl, port, store, keys }: Place, parties: readonly Parties[]): string {
  const clients = parties.map(
    ({ clientId, clientSecret, redirectUri }) => `  - client_id: ${clientId}
    client_secret: ${clientSecret}
    redirect_uris: [${redirectUri}]
`,
  );
  const vendors = parties.map(
    ({ vendor }) => `  ${vendor.id}:
    name: Bench
    authorization_endpoint: ${vendor.authorizationEndpoint}
    token_endpoint: ${vendor.tokenEndpoint}
    pkce: S256
    credentials: { id: first, client_id: ${vendor.clientId}, client_secret: ${vendor.clientSecret} }
`,
  );
  return `base_url: ${baseUrl}
listen: { host: 127.0.0.1, port: ${port} }
store: "${store}"
${keys === undefined ? "" : `keys: "${keys}"\n`}limits: { par_per_minute: 0, explain_per_minute: 0, vendor_calls_per_minute: 0 }
egress: { allow_loopback: true }
clients:
${clients.join("")}vendors:
${vendors.join("")}`;
}
