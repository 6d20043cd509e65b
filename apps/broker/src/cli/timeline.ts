/**
 * What happened to one flow, read from its record, without any secret in it; for `broker flow ID`
 * and the sandbox page. A record reaches a stage only by passing the checks of that leg, so the
 * timeline can list those checks.
 */
import { defined, type EpochSeconds, type RecordStore } from "@oauth-broker/oauth-core";
import { CALLBACK_PATH } from "../vendor-choice/callback-path.ts";
import { asFlow, type Flow, flowKey } from "../flows/flow-record.ts";

interface TimelineLeg {
  readonly leg: "pushed" | "started" | "parked" | "spent" | "failed";
  readonly at: EpochSeconds;
  readonly checks: readonly string[];
  /** For a failed flow: the leg and the reason. */
  readonly reason?: string;
}

export type Timeline = NonNullable<Awaited<ReturnType<typeof readTimeline>>>;

/** @returns undefined for a flow id that is unknown or older than an hour */
export async function readTimeline(flowId: string, records: RecordStore) {
  const record = await records.get(flowKey(flowId), { includeExpired: true });
  if (record === undefined) return undefined;
  const flow = asFlow(record);
  return {
    flowId,
    stage: record.stage,
    clientId: flow.clientId,
    vendor: flow.vendor,
    credentials: `${flow.credentialsSource} (${flow.vendorClientId ?? flow.credentialsId})`,
    scope: flow.scope,
    expiresAt: record.expiresAt,
    legs: [
      ...leg("pushed", flow.pushedAt, [
        "client authenticated",
        "redirect_uri on the exact list",
        "PKCE #1 is S256",
        "vendor allowed",
      ]),
      ...leg("started", flow.startedAt, ["request_uri used once", "browser cookie set", SAME_CONTEXT]),
      ...leg("parked", flow.parkedAt, callbackChecks(flow)),
      ...leg("spent", flow.spentAt, [
        "client authenticated",
        "PKCE #1 verifier",
        "same redirect_uri",
        SAME_CONTEXT,
        "code used once",
      ]),
      ...leg("failed", flow.failed?.at, [], flow.failed && `${flow.failed.leg}: ${flow.failed.reason}`),
    ],
  };
}

const SAME_CONTEXT = "same client, vendor, endpoints and credentials";

function callbackChecks({ binding, issVerified, path }: Flow): string[] {
  return [
    "state signature and lifetime",
    ...(path === CALLBACK_PATH ? [] : ["came back on its own callback path"]),
    binding === "browser" ? "same browser by cookie" : "bound by the platform (browser_binding: platform)",
    SAME_CONTEXT,
    issVerified === true ? "iss names this vendor" : "no iss expected from this vendor",
    "state used once",
  ];
}

function leg(
  name: TimelineLeg["leg"],
  at: EpochSeconds | undefined,
  checks: readonly string[],
  reason?: string,
): TimelineLeg[] {
  return at === undefined ? [] : [{ leg: name, at, checks, ...defined({ reason }) }];
}
