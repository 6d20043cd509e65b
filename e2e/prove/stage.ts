/**
 * One vendor and one broker, face to face: what every step of the journey plays on, and the way of
 * a user from the pushed request to the tokens.
 */
import type { Egress } from "@oauth-broker/oauth-core/egress";
import type { RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import {
  createEntryVendor,
  type Decision,
  type Entry,
  type EntryProxy,
  sampleValues,
} from "@oauth-broker/simulators/entry-vendor";
import type { Answer } from "../support/broker/platform.ts";
import { createClient, ISSUER, type ProofBroker, startProofBroker } from "./broker.ts";

/** What one journey plays on. */
export type Stage = Awaited<ReturnType<typeof setStage>>;

/** What all journeys of a process share. */
export interface Theatre {
  readonly proxy: EntryProxy;
  readonly egress: Egress;
}

/**
 * @param entry the vendor's side: the frozen facts
 * @param copy the broker's side
 */
export async function setStage(
  entry: Entry,
  copy: RegistryEntry,
  { proxy, egress }: Theatre,
  kind: "secret" | "certificate" = "secret",
) {
  // A time that no test of the broker depends on.
  const clock = fixedClock(1_790_000_000);
  const client = createClient(entry, `${ISSUER}/v1/callback`, isSelfHosted(entry) ? "byoc" : kind);
  const broker = await startProofBroker(copy, client, { now: clock, egress });
  const values = sampleValues(entry);
  // Names vendor, tenant and credentials in every request.
  const form: Readonly<Record<string, string>> = {
    vendor: copy.vendor.id,
    ...(Object.keys(values).length === 0 ? {} : { placeholders: JSON.stringify(values) }),
    ...client.form,
  };
  const redirectUri = isSelfHosted(entry) ? await ownCallback(broker, form) : client.atVendor.redirectUri;
  const vendor = createEntryVendor(entry, { ...client.atVendor, redirectUri }, clock);
  proxy.serve([vendor]);
  return { entry, vendor, broker, client, clock, form, values };
}

/** The vendor's whole host is the organization's: it has its own client, with its own callback. */
function isSelfHosted({ facts, placeholders }: Entry): boolean {
  const [, , host = ""] = facts.tokenEndpoint.split("/", 3);
  const spec = placeholders[/^\{([\w-]+)\}$/.exec(host)?.[1] ?? ""];
  return spec !== undefined && spec.values === undefined && spec.suffix === undefined && spec.follows === undefined;
}

async function ownCallback(broker: ProofBroker, form: Readonly<Record<string, string>>): Promise<string> {
  const { body } = await broker.post("/v1/explain", form);
  return String(body["redirect_uri"]);
}

/** @throws Error that says how far the user came */
export async function toPlatform(
  stage: Stage,
  form: Readonly<Record<string, string>> = {},
  decision: Decision = {},
): Promise<URL> {
  const pushed = await stage.broker.par({ ...stage.form, ...form });
  const requestUri = pushed.body["request_uri"];
  if (typeof requestUri !== "string") throw new Error(`the pushed request ended with ${describe(pushed)}`);
  stage.vendor.decide(decision);
  return stage.broker.browse(requestUri);
}

/**
 * @returns what the broker's token endpoint answers
 * @throws Error as `toPlatform`, and when the user comes back without a code
 */
export async function toToken(
  stage: Stage,
  form: Readonly<Record<string, string>> = {},
  decision: Decision = {},
): Promise<Answer> {
  const callback = await toPlatform(stage, form, decision);
  const code = callback.searchParams.get("code");
  if (code === null) throw new Error(`the platform was given the error ${callback.searchParams.get("error")}`);
  // As long as a platform may take; a vendor whose codes end sooner says so in its entry.
  stage.clock.advance(5);
  return stage.broker.redeem(code);
}

/** Tokens as the platform has them. */
export type Tokens = ReturnType<typeof tokensOf>;
/** @throws Error unless the answer is a success */
export function tokensOf(answer: Answer) {
  if (answer.status !== 200) throw new Error(`the token endpoint answered ${describe(answer)}`);
  const { access_token: accessToken, refresh_token: refreshToken, connection } = answer.body;
  return {
    accessToken: String(accessToken),
    refreshToken: typeof refreshToken === "string" ? refreshToken : undefined,
    connection: String(connection),
    body: answer.body,
  };
}

/** @returns status, code, reason and text of an answer */
export function describe({ status, body }: Answer): string {
  const named = ["error", "reason", "vendor_error", "retry", "error_description"].flatMap((name) => {
    const value = body[name];
    return typeof value === "string" ? [name === "error" ? value : `${name}: ${value}`] : [];
  });
  return [status, ...named].join(", ");
}

/** @throws Error that names both */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what} is ${a ?? "absent"}, not ${b ?? "absent"}`);
}
