/**
 * The broker's part of the bench: CPU time per whole flow and per refresh of the built broker, as an
 * operator runs it (a broker.yaml in its own folder), on either store, beside the floor, and with
 * ID tokens beside the same without. One fake vendor serves them all.
 */
import { join } from "node:path";
import { freePort } from "../../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../../support/paths.ts";
import type { OtherBuild } from "../../against.ts";
import { createActor } from "../../broker-client.ts";
import { openConnection } from "../../connection.ts";
import { LANES } from "../../lanes.ts";
import type { ServiceProcess } from "../../../support/service-process.ts";
import { type BrokerPlace, configureBroker, createParties, type Parties, startVendor } from "../../services.ts";
import { openOnStage } from "../../stage.ts";
import type { Comparison, PartOfBench } from "../part.ts";
import { type Lane, nameOf, type Served, timed, watched } from "../served.ts";
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
const plainOf = (work: string): string => work.replace("-oidc", "");

/** 0.1.0 knows this one alone, and does not start with a field it does not know. */
const NO_LIMITS_IN_0_1_0 = { par_per_minute: 0 };
const FLOOR = join(import.meta.dirname, "floor.ts");

/** A client at a vendor without ID tokens, and one at a vendor with them. */
type BenchParties = Readonly<Record<"plain" | "openid", Parties>>;

export function benchParties(vendorUrl: string): BenchParties {
  const openid = { scope: "openid read write", issuer: vendorUrl };
  return { plain: createParties(vendorUrl), openid: createParties(vendorUrl, "-openid", openid) };
}

/** Connections to the subject at `url`, each of which repeats one of `WORKS`. */
export function brokerLanes(work: string, url: string, { plain, openid }: BenchParties): () => Promise<Lane> {
  const actor = createActor(url, plainOf(work) === work ? plain : openid);
  const seen = new Set<string>();
  return async () => {
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
 * @param against is measured alternately with this build, in the same rounds
 * @throws Error when a server does not do what is measured
 */
export async function openBrokerPart(against?: OtherBuild, profiles?: string): Promise<PartOfBench> {
  return openOnStage(async (stage) => {
    const vendor = await startVendor("any", stage);
    const parties = benchParties(vendor.url);
    const broker = async (name: string, store: Store, bundle = BROKER_BUNDLE): Promise<ServiceProcess> => {
      const folder = stage.folder(name);
      const attempt = async (limits?: BrokerPlace["limits"]): Promise<ServiceProcess> => {
        const port = await freePort();
        const place = { baseUrl: `http://127.0.0.1:${port}`, port, store: STORES[store], ...(limits && { limits }) };
        configureBroker(folder, place, Object.values(parties));
        return stage.start({ name, file: bundle, folder, flags: watched(name, profiles) });
      };
      return attempt().catch(async (error: unknown) => {
        if (bundle === BROKER_BUNDLE) throw error;
        return attempt(NO_LIMITS_IN_0_1_0);
      });
    };
    const floor: FloorOptions = { ...parties.plain, port: await freePort() };
    const servers: Record<string, ServiceProcess> = {
      floor: await stage.start({
        name: "floor",
        file: FLOOR,
        args: [JSON.stringify(floor)],
        flags: watched("floor", profiles),
      }),
    };
    const stores = Object.keys(STORES) as Store[];
    for (const store of stores) servers[store] = await broker(store, store);
    if (against !== undefined)
      for (const store of stores) servers[`${store} before`] = await broker(`${store} before`, store, against.bundle);
    for (const { url } of Object.values(servers)) await requireChecks(url, parties.plain);
    if (servers["memory"] !== undefined) await requireChecks(servers["memory"].url, parties.openid);

    const served = WORKS.flatMap((work) =>
      Object.entries(servers)
        .filter(([on]) => on !== "floor" || plainOf(work) === work)
        .map(([on, server]): Served => {
          const openLane = brokerLanes(work, server.url, parties);
          return { work, on, label: `${LABELS[work]}, ${LABELS[on]}`, server, openLane };
        }),
    );
    return {
      about: `broker: ${LANES} connections${against === undefined ? "" : `, before: ${against.commit}`}`,
      measured: "the server's process",
      subjects: served.map((one) => stage.add(timed(one, vendor))),
      comparisons: brokerComparisons(served),
    };
  });
}

/** To the floor, or with ID tokens to the same without; then to the build before. */
export function brokerComparisons(served: readonly Pick<Served, "work" | "on">[]): Comparison[] {
  const toBase = served.flatMap(({ work, on }): Comparison[] => {
    if (on === "floor") return [];
    const limit = LIMITS[work]?.[on as Store];
    const base = plainOf(work) === work ? { to: nameOf({ work, on: "floor" }), name: "the floor" } : undefined;
    const without = { to: nameOf({ work: plainOf(work), on }), name: "without" };
    return [{ subject: nameOf({ work, on }), ...(base ?? without), ...(limit !== undefined && { limit }) }];
  });
  const toBefore = served.flatMap(({ work, on }): Comparison[] =>
    on.endsWith(" before")
      ? [{ subject: nameOf({ work, on: on.replace(" before", "") }), to: nameOf({ work, on }), name: "before" }]
      : [],
  );
  return [...toBase, ...toBefore];
}
