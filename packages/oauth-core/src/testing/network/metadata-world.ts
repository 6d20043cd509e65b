/** Documents on the web that discovery reads, and what it asked for. Nothing is sent. */
import { systemTimer } from "../../mechanics/system-timer.ts";
import type { Fetch } from "../../ports.ts";
import { createDiscovery, type Discovery } from "../../vendor-client/discovery/discover.ts";
import { fixedClock } from "../fixed-clock.ts";
import { ofEachTest } from "../of-tests.ts";

type Deps = Parameters<typeof createDiscovery>[0];

/** An issuer, its first well-known place, and a document that is right there. */
export const ISSUER = "https://v.example";
export const OIDC = `${ISSUER}/.well-known/openid-configuration`;
export const SOUND = {
  issuer: ISSUER,
  authorization_endpoint: "https://v.example/a",
  token_endpoint: "https://t.example/t",
  revocation_endpoint: "https://v.example/r",
  registration_endpoint: "https://v.example/reg",
  userinfo_endpoint: "https://v.example/u",
  jwks_uri: "https://v.example/k",
};

export interface MetadataWorld {
  /** By address; any other is answered 404. */
  readonly answers: Map<string, () => Response | Promise<Response>>;
  readonly asked: string[];
  readonly clock: ReturnType<typeof fixedClock>;
  readonly discovery: Discovery;
  /** With nothing in its cache. */
  readonly discover: (more?: Partial<Deps>) => Discovery;
  readonly publish: (address: string, document: object, changes?: object) => void;
}

/** @returns that of the test that runs */
export function metadataOfEachTest(): MetadataWorld {
  return ofEachTest(() => {
    const answers: MetadataWorld["answers"] = new Map();
    const asked: string[] = [];
    const clock = fixedClock(1_700_000_000);
    const fetch: Fetch = async (input) => {
      asked.push(String(input));
      return (answers.get(String(input)) ?? (() => new Response("", { status: 404 })))();
    };
    const discover: MetadataWorld["discover"] = (more) =>
      createDiscovery({ fetch, now: clock, timer: systemTimer, allowLoopback: false, ...more });
    const publish: MetadataWorld["publish"] = (address, document, changes) =>
      void answers.set(address, () => Response.json({ ...document, ...changes }));
    return { answers, asked, clock, discovery: discover(), discover, publish };
  });
}
