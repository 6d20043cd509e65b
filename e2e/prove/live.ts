/**
 * The steps of an MCP server, whose live metadata decides its endpoints or is compared with them: it
 * moves them, it publishes nothing, or its documents name another issuer. Each begins after the
 * broker's copy of the metadata is no longer used.
 */
import { type Entry, isLive, isOfMcpServer } from "@oauth-broker/simulators/entry-vendor";
import { expectSame, type Stage } from "./stage.ts";
import { type Seen, type Step, useEachEndpoint } from "./steps.ts";

/** Longer than metadata is used, also while it cannot be reached. */
const FORGOTTEN_SECONDS = 3_601;

async function move(stage: Stage, seen: Seen): Promise<void> {
  stage.clock.advance(FORGOTTEN_SECONDS);
  stage.vendor.publish("other endpoints");
  if (!isLive(stage.entry.facts)) return expectRefused(stage, 502, "vendor_response_invalid");
  await useEachEndpoint(stage, seen, true);
}

async function publishNothing(stage: Stage, seen: Seen): Promise<void> {
  stage.clock.advance(FORGOTTEN_SECONDS);
  stage.vendor.publish("nothing");
  const { endpointsFrom, jwksUri } = stage.entry.facts;
  if (endpointsFrom === "metadata") return expectRefused(stage, 503, "temporarily_unavailable");
  await useEachEndpoint(stage, seen, jwksUri !== undefined);
}

async function nameAnotherIssuer(stage: Stage): Promise<void> {
  for (const publication of ["another issuer", "another's metadata"] as const) {
    stage.clock.advance(FORGOTTEN_SECONDS);
    stage.vendor.publish(publication);
    await expectRefused(stage, 502, "vendor_response_invalid");
  }
}

async function expectRefused({ broker, vendor, form }: Stage, status: number, error: string): Promise<void> {
  const seen = (): readonly number[] => [
    vendor.served("authorization"),
    vendor.served("token"),
    vendor.refusals().filter((line) => line.startsWith("POST")).length,
  ];
  const before = seen();
  const { pushed } = await broker.start(form);
  expectSame("the refusal", [pushed.status, pushed.body["error"]], [status, error]);
  expectSame("pages and posts at the vendor", seen(), before);
}

/** @returns the steps, in order; none for any other vendor */
export function liveSteps({ facts }: Entry): readonly (readonly [name: string, step: Step])[] {
  if (!isOfMcpServer(facts)) return [];
  return [
    ["endpoints that moved", move],
    ["metadata that is not there", publishNothing],
    ["another issuer", nameAnotherIssuer],
  ];
}
