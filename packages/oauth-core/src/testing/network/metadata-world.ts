/** Documents on the web that discovery reads, and what it asked for. Nothing is sent. */
import { beforeEach } from "vitest";
import { systemTimer } from "../../mechanics/system-timer.ts";
import type { Fetch } from "../../ports.ts";
import { createDiscovery, type Discovery } from "../../vendor-client/discovery/discover.ts";
import { fixedClock } from "../fixed-clock.ts";

type Deps = Parameters<typeof createDiscovery>[0];

export interface MetadataWorld {
  /** By address; any other is answered 404. */
  readonly answers: Map<string, () => Response | Promise<Response>>;
  readonly asked: string[];
  readonly clock: ReturnType<typeof fixedClock>;
  readonly discovery: Discovery;
  /** With nothing in its cache. */
  readonly discover: (more?: Partial<Deps>) => Discovery;
  readonly publish: (address: string, document: object) => void;
}

/** @returns that of the test that runs */
export function metadataOfEachTest(): MetadataWorld {
  const world = {} as MetadataWorld;
  beforeEach(() => {
    const answers: MetadataWorld["answers"] = new Map();
    const asked: string[] = [];
    const clock = fixedClock(1_700_000_000);
    const fetch: Fetch = async (input) => {
      asked.push(String(input));
      return (answers.get(String(input)) ?? (() => new Response("", { status: 404 })))();
    };
    const discover: MetadataWorld["discover"] = (more) =>
      createDiscovery({ fetch, now: clock, timer: systemTimer, allowLoopback: false, ...more });
    const publish: MetadataWorld["publish"] = (address, document) =>
      void answers.set(address, () => Response.json(document));
    Object.assign(world, { answers, asked, clock, discovery: discover(), discover, publish });
  });
  return world;
}
