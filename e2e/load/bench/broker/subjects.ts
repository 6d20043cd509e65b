/**
 * What the bench compares, each in its own process on loopback: the floor, and the built broker as
 * an operator runs it (a broker.yaml in its own folder) on either store. One fake vendor serves
 * them all.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../../support/paths.ts";
import type { FloorOptions } from "./floor.ts";
import { plainWorkOf, type Work } from "./works.ts";
import { type ServerProcess, startServer } from "../../server-process.ts";
import { brokerYaml, createParties, type Parties, startVendor } from "../../services.ts";
import { openOnStage } from "../../stage.ts";

export const SUBJECTS = ["floor", "memory", "sqlite"] as const;
/** The same of another commit (`--against`). */
export const SUBJECTS_BEFORE = ["memory before", "sqlite before"] as const;
/** `memory` and `sqlite`: the broker on that store. */
export type Subject = (typeof SUBJECTS)[number] | (typeof SUBJECTS_BEFORE)[number];
/** Those of another commit are absent without one; the floor has no OpenID. */
export type BySubject<T> = Readonly<Record<"memory" | "sqlite", T> & Partial<Record<Subject, T>>>;

export interface Subjects {
  /** The same for every subject: a vendor without OpenID, and one that issues ID tokens. */
  readonly parties: Parties;
  readonly openidParties: Parties;
  readonly vendor: ServerProcess;
  readonly servers: BySubject<ServerProcess> & { readonly floor: ServerProcess };
  stop(): Promise<void>;
}

/** 0.1.0 knows this one alone, and does not start with a field it does not know. */
const NO_LIMITS_IN_0_1_0 = "par_per_minute: 0";
const MEMORY = "memory:";
const SQLITE = "sqlite:./broker.sqlite";
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
  const flags = (name: Subject): string[] => [
    ...(preload === undefined ? [] : ["--import", preload]),
    ...(profileFolder === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`]),
  ];
  return openOnStage(async (stage) => {
    const vendor = await startVendor("any", stage);
    const parties = createParties(vendor.url);
    const openidParties = createParties(vendor.url, "-openid", { openid: true });
    const start = async (name: Subject, args: readonly string[], folder: string): Promise<ServerProcess> => {
      const watched = onLine === undefined ? {} : { onLine: (line: string) => onLine(name, line) };
      return stage.add(await startServer({ name, args: [...flags(name), ...args], folder, ...watched }));
    };
    const broker = async (name: Subject, store: string, bundle = BROKER_BUNDLE): Promise<ServerProcess> => {
      const folder = stage.folder(name);
      const attempt = async (limits?: string): Promise<ServerProcess> => {
        const port = await freePort();
        const place = { baseUrl: `http://127.0.0.1:${port}`, port, store, ...(limits === undefined ? {} : { limits }) };
        writeFileSync(join(folder, "broker.yaml"), brokerYaml(place, [parties, openidParties]), { mode: 0o600 });
        return start(name, [bundle], folder);
      };
      return attempt().catch(async (error: unknown) => {
        if (bundle === BROKER_BUNDLE) throw error;
        return attempt(NO_LIMITS_IN_0_1_0);
      });
    };
    const floor: FloorOptions = { ...parties, port: await freePort() };
    const servers: Subjects["servers"] = {
      floor: await start("floor", [FLOOR, JSON.stringify(floor)], stage.folder("floor")),
      memory: await broker("memory", MEMORY),
      sqlite: await broker("sqlite", SQLITE),
      ...(bundleBefore === undefined
        ? {}
        : {
            "memory before": await broker("memory before", MEMORY, bundleBefore),
            "sqlite before": await broker("sqlite before", SQLITE, bundleBefore),
          }),
    };
    return { parties, openidParties, vendor, servers };
  });
}

/** @returns the subjects of a run that do this work, in the order in which they are measured */
export function subjectsOf(by: BySubject<unknown>, work: Work = "flow"): Subject[] {
  const all = [...SUBJECTS, ...SUBJECTS_BEFORE].filter((name) => by[name] !== undefined);
  return plainWorkOf(work) === undefined ? all : all.filter((name) => name !== "floor");
}
