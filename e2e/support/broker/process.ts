/**
 * The broker as a process: a broker.yaml in a folder, the built file or the source.
 * service-process.ts runs the process.
 */
import { BROKER_BUNDLE, BROKER_SOURCE, BROKER_WITH_SHORT_WAITS } from "../paths.ts";
import { type Ended, runService, type Service, type ServiceProcess, startService } from "../service-process.ts";

export { temporaryFolder } from "../service-process.ts";

export interface BrokerProcessOptions extends Pick<Service, "folder" | "env" | "args"> {
  /** The text of broker.yaml; absent: no file is written, which starts the sandbox. */
  readonly yaml?: string;
  /**
   * Default `dist`: the built file. `src`: what `npm start` runs. `short-waits`: serves, as a built
   * file too, but does not wait for load balancers when it stops, nor long for slow clients.
   */
  readonly entry?: keyof typeof FILES;
  /** Another built file than the repository's: a copy of it elsewhere. */
  readonly file?: string;
}

export type BrokerProcess = ServiceProcess;

const FILES = { dist: BROKER_BUNDLE, src: BROKER_SOURCE, "short-waits": BROKER_WITH_SHORT_WAITS } as const;

/** @throws Error with its stderr when the process ends, or prints nothing, before it listens */
export async function startBrokerProcess({
  yaml,
  entry = "dist",
  file = FILES[entry],
  ...service
}: BrokerProcessOptions): Promise<BrokerProcess> {
  const files = yaml === undefined ? {} : { "broker.yaml": yaml };
  return startService({ name: "broker", file, files, ...service });
}

/** An operator's command beside the running broker, e.g. `["flow", id]`. */
export async function runBrokerCommand(
  args: readonly string[],
  folder: string,
  { env }: Pick<Service, "env"> = {},
): Promise<Ended> {
  return runService({ name: "broker", file: BROKER_BUNDLE, folder, env }, ...args);
}
