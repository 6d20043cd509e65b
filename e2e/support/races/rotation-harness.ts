/**
 * Two brokers in this process on one store, on a clock that the test moves: the keyset rotates
 * during flows.
 */
import { expectPage, fixedClock } from "@oauth-broker/oauth-core/testing";
import type { OpenIdProvider } from "@oauth-broker/simulators";
import { expect } from "vitest";
import { brokerYaml, createSecrets } from "../broker/configuration.ts";
import { freePort } from "../free-port.ts";
import { type InProcessBroker, startInProcessBroker } from "../broker/in-process.ts";
import { type AtCallback, browse, createPlatform, type Platform, readTokens } from "../broker/platform.ts";
import { plantVendorSecrets, startVendor } from "../broker/vendor.ts";

export interface RotationHarness {
  readonly now: ReturnType<typeof fixedClock>;
  readonly one: InProcessBroker;
  readonly two: InProcessBroker;
  /** A platform that starts its flows at the first broker. */
  readonly atOne: Platform;
  readonly urlOfTwo: string;
  readonly vendor: OpenIdProvider;
  close(): Promise<void>;
}

export async function startRotationHarness(places: {
  readonly store: string;
  readonly keys?: string;
}): Promise<RotationHarness> {
  const ports = [await freePort(), await freePort()] as const;
  const baseUrl = `http://127.0.0.1:${ports[0]}`;
  const secrets = createSecrets();
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const vendor = await startVendor({ baseUrl, secrets });
  const yaml = brokerYaml({ baseUrl, secrets, issuer: vendor.issuer, ...places });
  const one = await startInProcessBroker(yaml, { now });
  const two = await startInProcessBroker(yaml, { now, env: { PORT: String(ports[1]) } });
  return {
    now,
    one,
    two,
    atOne: createPlatform({ baseUrl, clientSecret: secrets.platform }),
    urlOfTwo: `http://127.0.0.1:${ports[1]}`,
    vendor,
    close: async () => {
      plantVendorSecrets(vendor);
      await one.close();
      await two.close();
      await vendor.close();
    },
  };
}

const kidOf = (state: string | null): unknown =>
  (JSON.parse(Buffer.from(state?.split(".")[0] ?? "", "base64url").toString()) as Record<string, unknown>)["kid"];

function atTwo(url: URL, { urlOfTwo }: RotationHarness): URL {
  const moved = new URL(url);
  moved.host = new URL(urlOfTwo).host;
  return moved;
}

/** The browser comes back at the second broker, and the code is redeemed there. */
async function expectFinishAtTwo(flow: AtCallback, harness: RotationHarness): Promise<void> {
  const { atOne, urlOfTwo } = harness;
  const returned = await browse(atTwo(flow.callback, harness), flow.jar);
  const code = new URL(returned.headers.get("location") ?? "about:blank").searchParams.get("code") ?? "";
  const answer = await atOne.post("/v1/token", atOne.redeemForm({ ...flow, code }), urlOfTwo);
  expect(answer.status, answer.text).toBe(200);
  readTokens(answer);
}

/** Published 60 s before it signs; what was signed before stays valid, and so do connections. */
export async function expectUnnoticedRotation(harness: RotationHarness): Promise<void> {
  const { atOne, now, one, urlOfTwo } = harness;
  await one.broker.deps.keyset.load(); // as every 20 s in a process
  const connected = await atOne.connect();
  const before = await atOne.toCallback();
  const { kid, activeFrom } = await one.broker.deps.keyset.rotate();
  expect(activeFrom).toBe(now() + 60);
  const during = await atOne.toCallback();
  expect(kidOf(during.callback.searchParams.get("state"))).toBe(kidOf(before.callback.searchParams.get("state")));

  now.advance(60);
  const after = await atOne.toCallback();
  expect(kidOf(after.callback.searchParams.get("state"))).toBe(kid);
  // The other process has not read the new key yet: it reads the storage before it refuses.
  for (const flow of [after, before, during]) await expectFinishAtTwo(flow, harness);
  const form = {
    grant_type: "refresh_token",
    refresh_token: connected.refreshToken,
    connection: connected.connection,
  };
  const refreshed = await atOne.post("/v1/token", form, urlOfTwo);
  expect(refreshed.status, refreshed.text).toBe(200);
  readTokens(refreshed);
}

/**
 * Rotation after rotation, by one broker and the other in turn, with flows begun before and
 * finished after each.
 */
export async function expectUnnoticedRotations(
  harness: RotationHarness,
  { rotations, flows }: { readonly rotations: number; readonly flows: number },
): Promise<void> {
  const begin = async (): Promise<AtCallback[]> =>
    Promise.all(Array.from({ length: flows }, async () => harness.atOne.toCallback()));
  let open = await begin();
  for (let rotation = 0; rotation < rotations; rotation += 1) {
    const { keyset } = (rotation % 2 === 0 ? harness.two : harness.one).broker.deps;
    const [, begun] = await Promise.all([keyset.rotate(), begin()]);
    harness.now.advance(60);
    await Promise.all(open.map((flow) => expectFinishAtTwo(flow, harness)));
    open = [...begun, ...(await begin())];
  }
  await Promise.all(open.map((flow) => expectFinishAtTwo(flow, harness)));
}

export async function expectUnknownKeyRefused(harness: RotationHarness): Promise<void> {
  const flow = await harness.atOne.toCallback();
  const state = flow.callback.searchParams.get("state") ?? "";
  const [header = "", ...rest] = state.split(".");
  const forged = Buffer.from(header, "base64url")
    .toString()
    .replace(/"kid":"[^"]+"/, '"kid":"AAAAAAAA"');
  const url = new URL(flow.callback);
  url.searchParams.set("state", [Buffer.from(forged).toString("base64url"), ...rest].join("."));
  expectPage(await browse(atTwo(url, harness), flow.jar), 400, "state_invalid");
}
