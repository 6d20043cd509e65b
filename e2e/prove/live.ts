/**
 * The steps of an MCP server, whose endpoints are compared with its live metadata: it moves them, it
 * publishes nothing, or its documents name another issuer. Each begins after the broker's copy of the
 * metadata is no longer used.
 */
import { type Entry, isOfMcpServer } from "@oauth-broker/simulators/entry-vendor";
import { expectSame, type Stage } from "./stage.ts";
import { type Seen, type Step, useEachEndpoint } from "./steps.ts";

/** Longer than metadata is used, also while it cannot be reached. */
const FORGOTTEN_SECONDS = 3_601;

async function move(stage: Stage): Promise<void> {
  stage.clock.advance(FORGOTTEN_SECONDS);
  stage.vendor.publish("other endpoints");
  await expectRefused(stage);
}

async function publishNothing(stage: Stage, seen: Seen): Promise<void> {
  stage.clock.advance(FORGOTTEN_SECONDS);
  stage.vendor.publish("nothing");
  await useEachEndpoint(stage, seen, stage.entry.facts.jwksUri !== undefined);
}

async function nameAnotherIssuer(stage: Stage): Promise<void> {
  for (const publication of ["another issuer", "another's metadata"] as const) {
    stage.clock.advance(FORGOTTEN_SECONDS);
    stage.vendor.publish(publication);
    await expectRefused(stage);
  }
}

async function expectRefused({ broker, vendor, form }: Stage): Promise<void> {
  const seen = (): readonly number[] => [
    vendor.served("authorization"),
    vendor.served("token"),
    vendor.refusals().filter((line) => line.startsWith("POST")).length,
  ];
  const before = seen();
  const pushed = await broker.par(form);
  expectSame("the refusal", [pushed.status, pushed.body["error"]], [502, "vendor_response_invalid"]);
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
