/** The platform's settings from the environment. The only reader of process.env. */
import { resolve } from "node:path";
import { defined, Secret } from "@oauth-broker/oauth-core";
import {
  checkCidr,
  checkOrigin,
  configError,
  createEnvironmentReader,
  CONNECTIONS,
  type Environment,
  type EnvironmentReader,
  variableMeant,
} from "@oauth-broker/service/configuration";
import { EVENT_VARIABLES, type EventSettings, readEvents } from "@oauth-broker/service/events";
import type { BrokerAccess } from "./oauth/client-of-connector.ts";

export { type Environment, startFolder } from "@oauth-broker/service/configuration";

export interface PlatformConfig {
  /** The URL of the platform, without path and trailing slash. */
  readonly platformUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
  /** Private networks that vendors' endpoints may be in. */
  readonly allowCidrs: readonly string[];
}

export const DEFAULT_PORT = 8789;
export const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;
export const DEFAULT_DATA = "platform-data";
/** The variables that programs need to run; none of them holds a secret of the deployer. */
const SYSTEM = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS"];

const ORIGIN = "https origin without path and trailing slash (http on loopback only)";
const [EVENTS_URL, EVENTS_SECRET] = EVENT_VARIABLES;
/** The shape of each variable; `platform --help` (cli.ts) says what it is for. */
const VARIABLES = {
  PLATFORM_URL: { type: ORIGIN, example: "https://platform.example.com" },
  PLATFORM_DATA_DIR: { type: "path of a folder", example: "/var/lib/platform" },
  EGRESS_ALLOW_CIDRS: { type: "networks in CIDR notation, separated by commas", example: "10.20.0.0/16" },
  PORT: { type: "port, 1 to 65535", example: String(DEFAULT_PORT) },
  MAX_CONNECTIONS: {
    type: `whole number, 1 to ${CONNECTIONS.most}`,
    example: String(CONNECTIONS.usual),
  },
  BROKER_URL: { type: ORIGIN, example: "https://broker.example.com" },
  BROKER_CLIENT_ID: { type: "client_id at the broker", example: "platform" },
  BROKER_CLIENT_SECRET: { type: "the client_secret of that client", example: "…" },
  EVENTS_URL,
  EVENTS_SECRET,
} as const;

type Reader = EnvironmentReader<keyof typeof VARIABLES>;

const readerOf = (environment: Environment): Reader =>
  createEnvironmentReader(environment, (name: keyof typeof VARIABLES) => VARIABLES[name]);

/** @returns a warning for each variable that is probably misspelt */
export function misspeltVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).flatMap((name) => {
    const meant = Object.hasOwn(VARIABLES, name) ? undefined : variableMeant(name, Object.keys(VARIABLES));
    return meant === undefined ? [] : [`${name} is set, and not known here: did you mean ${meant}?`];
  });
}

/** @throws ConfigError */
export function loadPlatformConfig(environment: Environment, start: string, dataDir?: string): PlatformConfig {
  const read = readerOf(environment);
  const platformUrl = read.text("PLATFORM_URL", checkOrigin) ?? DEFAULT_URL;
  const allowCidrs = read.list("EGRESS_ALLOW_CIDRS", checkCidr);
  requireNone(read);
  return {
    platformUrl,
    dataDir: resolve(start, dataDir ?? read.value("PLATFORM_DATA_DIR") ?? DEFAULT_DATA),
    allowCidrs,
  };
}

function requireNone({ problems }: Reader): void {
  if (problems.length === 0) return;
  throw configError(problems, {
    service: "The platform",
    source: "the environment",
    next: "Set them and try again.",
  });
}

export interface ServeConfig extends Omit<PlatformConfig, "dataDir"> {
  /** On loopback: any visitor of the pages may choose any user. */
  readonly port: number;
  readonly maxConnections: number;
  /** Absent: without a broker; broker connectors report that. */
  readonly broker?: BrokerAccess;
  /** Where to report connections that end and return; absent: nowhere. */
  readonly events?: EventSettings;
}

/** @throws ConfigError */
export function loadServeConfig(environment: Environment, { platformUrl, allowCidrs }: PlatformConfig): ServeConfig {
  const read = readerOf(environment);
  const { port: own } = new URL(platformUrl);
  const port = read.integer("PORT", { least: 1, most: 65_535 }) ?? (own === "" ? DEFAULT_PORT : Number(own));
  if (port === 0) read.refuse("PORT", "is missing, and PLATFORM_URL names port 0, which is any");
  if (read.value("PLATFORM_URL") === undefined && platformUrl === DEFAULT_URL && port !== DEFAULT_PORT) {
    const meant = `PLATFORM_URL=http://127.0.0.1:${port}`;
    read.refuse("PORT", `is not the port of ${DEFAULT_URL}, which is the platform's URL: set ${meant} in its place`);
  }
  const maxConnections = read.integer("MAX_CONNECTIONS", CONNECTIONS) ?? CONNECTIONS.usual;
  const broker = readBroker(read);
  const events = readEvents(read, { allowLoopback: true, allowCidrs });
  requireNone(read);
  return { platformUrl, allowCidrs, port, maxConnections, ...defined({ broker, events }) };
}

function readBroker(read: Reader): BrokerAccess | undefined {
  if (read.value("BROKER_URL") === undefined) return undefined;
  const issuer = read.text("BROKER_URL", checkOrigin);
  const clientId = read.secret("BROKER_CLIENT_ID") ?? "platform";
  const clientSecret = read.secret("BROKER_CLIENT_SECRET");
  if (read.value("BROKER_CLIENT_SECRET") === undefined) read.refuse("BROKER_CLIENT_SECRET", "is missing");
  if (issuer === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret: new Secret(clientSecret) };
}

/** The environment of the process. No other code reads process.env. */
export function readEnvironment(): Environment {
  return process.env;
}

export function systemVariables(environment: Environment): Readonly<Record<string, string>> {
  const set = SYSTEM.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, environment[name] ?? ""]));
}
