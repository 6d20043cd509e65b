/**
 * What the bench compares, each in its own process on loopback: the floor, and the built broker as
 * an operator runs it (a broker.yaml in its own folder) on either store. One stub vendor serves
 * them all.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../support/free-port.ts";
import { BROKER_BUNDLE, ROOT } from "../../../support/paths.ts";
import type { FloorOptions } from "./floor.ts";
import { type ServerProcess, startServer } from "../../server-process.ts";

export const SUBJECTS = ["floor", "memory", "sqlite"] as const;
/** The same of another commit (`--against`). */
export const SUBJECTS_BEFORE = ["memory before", "sqlite before"] as const;
/** `memory` and `sqlite`: the broker on that store. */
export type Subject = (typeof SUBJECTS)[number] | (typeof SUBJECTS_BEFORE)[number];
/** Those of another commit are absent without one. */
export type BySubject<T> = Readonly<Record<(typeof SUBJECTS)[number], T> & Partial<Record<Subject, T>>>;

/** The driving client and the vendor behind: the same for every subject. */
export type Parties = Omit<FloorOptions, "port">;

export interface Subjects {
  readonly parties: Parties;
  readonly servers: BySubject<ServerProcess>;
  stop(): Promise<void>;
}

/** 0 is off. An unknown field keeps a broker from starting, and 0.1.0 knows the first alone. */
const NO_LIMITS = "par_per_minute: 0, explain_per_minute: 0, vendor_calls_per_minute: 0";
const NO_LIMITS_IN_0_1_0 = "par_per_minute: 0";
const MEMORY = "memory:";
const SQLITE = "sqlite:./broker.sqlite";
const STUB_VENDOR = join(ROOT, "packages", "simulators", "src", "stub-vendor.ts");
const FLOOR = join(import.meta.dirname, "floor.ts");

export interface SubjectOptions {
  /** Each subject writes a CPU profile there when it stops. */
  readonly profileFolder?: string | undefined;
  /** The bundle of another commit. */
  readonly bundleBefore?: string | undefined;
  /** A module that each subject loads first. */
  readonly preload?: string | undefined;
  /** Takes what a subject prints once it listens. */
  readonly onLine?: ((subject: string, line: string) => void) | undefined;
}

export async function startSubjects(options: SubjectOptions = {}): Promise<Subjects> {
  const { profileFolder, bundleBefore, preload, onLine } = options;
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-bench-"));
  const started: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(started.map((server) => server.stop()));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  };
  const start = async (name: string, args: readonly string[], yaml?: string): Promise<ServerProcess> => {
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    if (yaml !== undefined) writeFileSync(join(folder, "broker.yaml"), yaml, { mode: 0o600 });
    const watched = onLine === undefined ? {} : { onLine: (line: string) => onLine(name, line) };
    const server = await startServer({ name, args, folder, ...watched });
    started.push(server);
    return server;
  };
  const flags = (name: Subject): string[] => [
    ...(preload === undefined ? [] : ["--import", preload]),
    ...(profileFolder === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`]),
  ];
  try {
    const parties = createParties((await start("vendor", [STUB_VENDOR])).url);
    const floor: FloorOptions = { ...parties, port: await freePort() };
    const broker = async (name: Subject, store: string, bundle = BROKER_BUNDLE): Promise<ServerProcess> => {
      const attempt = async (limits: string): Promise<ServerProcess> =>
        start(name, [...flags(name), bundle], brokerYaml(store, await freePort(), parties, limits));
      return attempt(NO_LIMITS).catch(async (error: unknown) => {
        if (bundle === BROKER_BUNDLE) throw error;
        return attempt(NO_LIMITS_IN_0_1_0);
      });
    };
    const servers: Subjects["servers"] = {
      floor: await start("floor", [...flags("floor"), FLOOR, JSON.stringify(floor)]),
      memory: await broker("memory", MEMORY),
      sqlite: await broker("sqlite", SQLITE),
      ...(bundleBefore === undefined
        ? {}
        : {
            "memory before": await broker("memory before", MEMORY, bundleBefore),
            "sqlite before": await broker("sqlite before", SQLITE, bundleBefore),
          }),
    };
    return { parties, servers, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

function createParties(vendorUrl: string): Parties {
  const secret = (): string => randomBytes(32).toString("base64url");
  return {
    clientId: "platform",
    clientSecret: secret(),
    redirectUri: "https://platform.example/oauth/vendor-callback",
    vendor: {
      id: "bench",
      authorizationEndpoint: `${vendorUrl}/authorize`,
      tokenEndpoint: `${vendorUrl}/token`,
      clientId: "broker",
      clientSecret: secret(),
    },
  };
}

/**
 * Defaults wherever they exist, except the limit on pushed requests, which would end the run after
 * 600 flows.
 */
function brokerYaml(
  store: string,
  port: number,
  { clientId, clientSecret, redirectUri, vendor }: Parties,
  limits: string,
): string {
  return `base_url: http://127.0.0.1:${port}
listen: { host: 127.0.0.1, port: ${port} }
store: "${store}"
limits: { ${limits} }
egress: { allow_loopback: true }
clients:
  - client_id: ${clientId}
    client_secret: ${clientSecret}
    redirect_uris: [${redirectUri}]
vendors:
  ${vendor.id}:
    name: Bench
    authorization_endpoint: ${vendor.authorizationEndpoint}
    token_endpoint: ${vendor.tokenEndpoint}
    pkce: S256
    credentials: { id: first, client_id: ${vendor.clientId}, client_secret: ${vendor.clientSecret} }
`;
}

/** @returns the subjects of a run, in the order in which they are measured */
export function subjectsOf(by: BySubject<unknown>): Subject[] {
  return [...SUBJECTS, ...SUBJECTS_BEFORE].filter((name) => by[name] !== undefined);
}
