/**
 * The broker as a process: a broker.yaml in a folder, the built file or the source.
 * service-process.ts runs the process.
 */
import { BROKER_BUNDLE, BROKER_SOURCE, BROKER_WITH_SHORT_WAITS } from "../paths.ts";
import { type Ended, runService, type Service, type ServiceProcess, startService } from "../service-process.ts";

export { temporaryFolder } from "../service-process.ts";

export interface BrokerProcessOptions {
  /** The text of broker.yaml; absent: no file is written, which starts the sandbox. */
  readonly yaml?: string;
  /**
   * The folder of broker.yaml, where relative paths start; a fresh one by default. Several
   * processes may share one.
   */
  readonly folder?: string;
  /**
   * Default `dist`: the built file. `src`: what `npm start` runs. `short-waits`: serves, as a built
   * file too, but does not wait for load balancers when it stops, nor long for slow clients.
   */
  readonly entry?: keyof typeof FILES;
  /** Another built file than the repository's: a copy of it elsewhere. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export type BrokerProcess = ServiceProcess;

const FILES = { dist: BROKER_BUNDLE, src: BROKER_SOURCE, "short-waits": BROKER_WITH_SHORT_WAITS } as const;

/** @throws Error with its stderr when the process ends, or prints nothing, before it listens */
export async function startBrokerProcess(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const { yaml } = options;
  return startService({ ...serviceOf(options), ...(yaml === undefined ? {} : { files: { "broker.yaml": yaml } }) });
}

/** An operator's command beside the running broker, e.g. `["flow", id]`. */
export async function runBrokerCommand(
  args: readonly string[],
  folder: string,
  options: Pick<BrokerProcessOptions, "entry" | "env"> = {},
): Promise<Ended> {
  return runService({ ...serviceOf(options), folder }, ...args);
}

function serviceOf({ entry = "dist", env, folder, file, args = [] }: BrokerProcessOptions): Service {
  return {
    name: "broker",
    file: file ?? FILES[entry],
    args,
    ...(folder === undefined ? {} : { folder }),
    ...(env === undefined ? {} : { env }),
  };
}
