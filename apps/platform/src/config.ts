/** The platform's settings from the environment. The only reader of process.env. */
import { resolve } from "node:path";
import { Secret } from "@oauth-broker/oauth-core";
import {
  checkCidr,
  configError,
  DEFAULT_MAX_CONNECTIONS,
  parseOrigin,
  type Problem,
} from "@oauth-broker/oauth-core/service";
import type { BrokerAccess } from "./oauth/client-of-connector.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface PlatformConfig {
  /** Where the platform is reached, without path and trailing slash. */
  readonly platformUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** Private networks in which vendors' endpoints may lie. */
  readonly allowCidrs: readonly string[];
}

const DEFAULT_URL = "http://127.0.0.1:8789";
const DEFAULT_DATA = "platform-data";
/** What programs need to run, and what says nothing about anybody. */
const SYSTEM = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS"];

/** @throws ConfigError */
export function loadPlatformConfig(environment: Environment, start: string, dataDir?: string): PlatformConfig {
  const problems: Problem[] = [];
  const url = parseOrigin(valueOf(environment, "PLATFORM_URL") ?? DEFAULT_URL);
  if ("problem" in url) {
    problems.push({ path: "PLATFORM_URL", problem: url.problem, example: "PLATFORM_URL=https://platform.example.com" });
  }
  const allowCidrs = (valueOf(environment, "EGRESS_ALLOW_CIDRS") ?? "").split(",").filter((cidr) => cidr.trim() !== "");
  for (const cidr of allowCidrs) {
    const problem = checkCidr(cidr.trim());
    if (problem !== undefined) problems.push({ path: "EGRESS_ALLOW_CIDRS", problem });
  }
  if ("problem" in url || problems.length > 0) {
    throw configError(problems, {
      service: "The platform",
      source: "the environment",
      next: "Set them and try again.",
    });
  }
  return {
    platformUrl: url.value,
    dataDir: resolve(start, dataDir ?? valueOf(environment, "PLATFORM_DATA_DIR") ?? DEFAULT_DATA),
    allowCidrs: allowCidrs.map((cidr) => cidr.trim()),
  };
}

export interface ServeConfig extends Omit<PlatformConfig, "dataDir"> {
  /** On loopback: whoever reaches the pages may choose any user. */
  readonly port: number;
  readonly maxConnections: number;
  /** Absent: there is no broker. */
  readonly broker?: BrokerAccess;
}

/** @throws ConfigError */
export function loadServeConfig(environment: Environment, { platformUrl, allowCidrs }: PlatformConfig): ServeConfig {
  const problems: Problem[] = [];
  const { port: own } = new URL(platformUrl);
  const text = valueOf(environment, "PORT") ?? (own === "" ? "8789" : own);
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    problems.push({ path: "PORT", problem: "must be a port", expected: "1 to 65535" });
  }
  const maxConnections = readMaxConnections(environment, problems);
  const broker = readBroker(environment, problems);
  if (problems.length > 0) {
    throw configError(problems, {
      service: "The platform",
      source: "the environment",
      next: "Set them and try again.",
    });
  }
  return { platformUrl, allowCidrs, port, maxConnections, ...(broker === undefined ? {} : { broker }) };
}

function readMaxConnections(environment: Environment, problems: Problem[]): number {
  const text = valueOf(environment, "MAX_CONNECTIONS") ?? String(DEFAULT_MAX_CONNECTIONS);
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  problems.push({ path: "MAX_CONNECTIONS", problem: "must be a whole number", expected: "1 to 999999" });
  return DEFAULT_MAX_CONNECTIONS;
}

function readBroker(environment: Environment, problems: Problem[]): BrokerAccess | undefined {
  const url = valueOf(environment, "BROKER_URL");
  if (url === undefined) return undefined;
  const issuer = parseOrigin(url);
  const clientSecret = valueOf(environment, "BROKER_CLIENT_SECRET");
  if ("problem" in issuer) problems.push({ path: "BROKER_URL", problem: issuer.problem });
  if (clientSecret === undefined) problems.push({ path: "BROKER_CLIENT_SECRET", problem: "is missing" });
  if ("problem" in issuer || clientSecret === undefined) return undefined;
  const clientId = valueOf(environment, "BROKER_CLIENT_ID") ?? "platform";
  return { issuer: issuer.value, clientId, clientSecret: new Secret(clientSecret) };
}

/** Of the process. Nothing else touches process.env. */
export function readEnvironment(): Environment {
  return process.env;
}

/** Where the command was typed: npm starts its scripts at the root of the repository and says where it came from. */
export function startFolder(environment: Environment): string {
  return valueOf(environment, "INIT_CWD") ?? process.cwd();
}

export function systemVariables(environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SYSTEM.flatMap((name): [string, string][] => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const valueOf = (environment: Environment, name: string): string | undefined =>
  environment[name] === "" ? undefined : environment[name];
