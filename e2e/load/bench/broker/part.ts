/**
 * The broker's part of the bench: CPU time per whole flow and per refresh of the built broker, as an
 * operator runs it (a broker.yaml in its own folder), on either store, beside the floor, and with
 * ID tokens beside the same without. One fake vendor serves them all.
 */
import { join } from "node:path";
import { freePort } from "../../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../../support/paths.ts";
import type { ServiceProcess } from "../../../support/service-process.ts";
import type { OtherBuild } from "../../against.ts";
import { createActor } from "../../broker-client.ts";
import { openConnection } from "../../connection.ts";
import { LANES } from "../../lanes.ts";
import type { Comparison, Rounds } from "../../rounds.ts";
import { createParties, type Parties, startBrokers, startVendor } from "../../services.ts";
import { onStage } from "../../stage.ts";
import { measurePart } from "../part.ts";
import { type Lane, servedSubject, watched } from "../served.ts";
import type { FloorOptions } from "./floor.ts";
import { requireChecks } from "./probe.ts";

export const STORES = { memory: "memory:", sqlite: "sqlite:./broker.sqlite" } as const;
type Store = keyof typeof STORES;

/** The aims: CPU at most so many times that of the floor, or with ID tokens that of the same without. */
const LIMITS: Readonly<Record<string, Readonly<Record<Store, number>>>> = {
  flow: { memory: 1.6, sqlite: 2.2 },
  refresh: { memory: 2.2, sqlite: 3 },
  "flow-oidc": { memory: 1.3, sqlite: 1.3 },
  "refresh-oidc": { memory: 1.5, sqlite: 1.5 },
};
/** `-oidc`: at a vendor that issues an ID token with each answer, which the floor does not take. */
export const WORKS: readonly string[] = Object.keys(LIMITS);
const LABELS: Readonly<Record<string, string>> = {
  flow: "whole flow",
  refresh: "refresh",
  "flow-oidc": "flow with ID tokens",
  "refresh-oidc": "refresh with ID tokens",
  floor: "floor",
  memory: "broker, memory",
  sqlite: "broker, SQLite",
  "memory before": "before, memory",
  "sqlite before": "before, SQLite",
};
const nameOf = (work: string, on: string): string => `${LABELS[work]}, ${LABELS[on]}`;
const plainOf = (work: string): string => work.replace("-oidc", "");

const FLOOR = join(import.meta.dirname, "floor.ts");

/** A client at a vendor without ID tokens, and one at a vendor with them. */
export function benchParties(vendorUrl: string): Readonly<Record<"plain" | "openid", Parties>> {
  const openid = { scope: "openid read write", issuer: vendorUrl };
  return { plain: createParties(vendorUrl), openid: createParties(vendorUrl, "-openid", openid) };
}

/** Connections to the subject at `url`, each of which repeats one of `WORKS`. */
export function brokerLanes(work: string, url: string, parties: ReturnType<typeof benchParties>) {
  const actor = createActor(url, plainOf(work) === work ? parties.plain : parties.openid);
  const seen = new Set<string>();
  return async (): Promise<Lane> => {
    const connection = openConnection(url);
    let granted = await actor.flow(connection);
    const run = async (): Promise<void> => {
      granted = await (plainOf(work) === "flow" ? actor.flow(connection) : actor.refresh(connection, granted));
      if (seen.has(granted.accessToken)) throw new Error("an access token was issued twice");
      seen.add(granted.accessToken);
    };
    return { run, close: () => connection.close() };
  };
}

/**
 * Each operation on each server: to the floor, or with ID tokens to the same without; then to the build before.
 *
 * @param servers `floor`, the stores, and if there is a build before, `memory before` and `sqlite before`
 */
export function brokerWorks(servers: readonly string[]) {
  return WORKS.flatMap((work) => {
    const isPlain = plainOf(work) === work;
    return servers
      .filter((on) => on !== "floor" || isPlain)
      .map((on) => {
        const [limit, before] = [LIMITS[work]?.[on as Store], `${on} before`];
        const to = isPlain ? nameOf(work, "floor") : nameOf(plainOf(work), on);
        const comparisons: readonly Comparison[] = [
          ...(on === "floor" ? [] : [{ to, limit }]),
          ...(servers.includes(before) ? [{ to: nameOf(work, before) }] : []),
        ];
        return { work, on, name: nameOf(work, on), comparisons };
      });
  });
}

/**
 * @param builds.against is measured alternately with this build, in the same rounds
 * @param builds.profiles a folder for CPU profiles of the servers
 * @throws Error when a server does not do what is measured
 */
export async function benchBroker(
  { against, profiles }: { readonly against?: OtherBuild | undefined; readonly profiles?: string | undefined },
  asked: Rounds,
  say: (line: string) => void,
) {
  return onStage(async (stage) => {
    const vendor = await startVendor("any", stage);
    const parties = benchParties(vendor.url);
    const floor: FloorOptions = { ...parties.plain, port: await freePort() };
    const args = [JSON.stringify(floor)];
    const flags = watched("floor", profiles);
    const started = await stage.start({ name: "floor", file: FLOOR, args, flags });
    const servers: Record<string, ServiceProcess> = { floor: started };
    const builds = { "": BROKER_BUNDLE, ...(against && { " before": against.broker }) };
    for (const [build, file] of Object.entries(builds)) {
      for (const [on, store] of Object.entries(STORES)) {
        const name = on + build;
        const own = { name, file, store, flags: watched(name, profiles), parties: Object.values(parties) };
        [servers[name]] = await startBrokers(own, stage);
      }
    }
    for (const { url } of Object.values(servers)) await requireChecks(url, parties.plain);
    await requireChecks(servers["memory"]!.url, parties.openid);
    const subjects = brokerWorks(Object.keys(servers)).map(({ work, on, ...subject }) => {
      const server = servers[on]!;
      return servedSubject({ ...subject, server, openLane: brokerLanes(work, server.url, parties) }, stage);
    });
    const about = `broker: ${LANES} connections${against === undefined ? "" : `, before: ${against.commit}`}`;
    return measurePart({ about, measured: "the server's process", subjects }, asked, say);
  });
}
