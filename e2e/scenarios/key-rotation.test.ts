/** The keyset rotates under two brokers on one store while flows are under way: nobody notices. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { OpenIdProvider } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/broker-process.ts";
import { brokerYaml, createSecrets } from "../support/configuration.ts";
import { expectPage } from "../support/expectations.ts";
import { freePort } from "../support/free-port.ts";
import { type InProcessBroker, startInProcessBroker } from "../support/in-process-broker.ts";
import { browse, createPlatform, type Platform, readTokens } from "../support/platform.ts";
import { startVendor } from "../support/vendor.ts";

const folder = temporaryFolder();
const secrets = createSecrets();
const now = fixedClock(Math.floor(Date.now() / 1000));
let vendor: OpenIdProvider;
let one: InProcessBroker;
let two: InProcessBroker;
let atOne: Platform;
let urlOfTwo: string;

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const;
  const baseUrl = `http://127.0.0.1:${ports[0]}`;
  urlOfTwo = `http://127.0.0.1:${ports[1]}`;
  vendor = await startVendor({ baseUrl, secrets });
  const store = `sqlite:${join(folder, "broker.sqlite")}`;
  const yaml = brokerYaml({ baseUrl, secrets, issuer: vendor.issuer, store });
  one = await startInProcessBroker(yaml, { now });
  two = await startInProcessBroker(yaml, { now, env: { PORT: String(ports[1]) } });
  atOne = createPlatform({ baseUrl, clientSecret: secrets.platform });
});
afterAll(async () => {
  await one.close();
  await two.close();
  await vendor.close();
  rmSync(folder, { recursive: true, force: true });
});

const kidOf = (state: string | null): unknown =>
  (JSON.parse(Buffer.from(state?.split(".")[0] ?? "", "base64url").toString()) as Record<string, unknown>)["kid"];

function atTwo(url: URL): URL {
  const moved = new URL(url);
  moved.host = new URL(urlOfTwo).host;
  return moved;
}

describe("a rotation", () => {
  it("is published 60 s before it signs, and what was signed before goes on", async () => {
    const connected = await atOne.connect();
    const before = await atOne.toCallback();
    const { kid, activeFrom } = await one.broker.deps.keyset.rotate();
    expect(activeFrom).toBe(now() + 60);
    const during = await atOne.toCallback();
    expect(kidOf(during.callback.searchParams.get("state"))).toBe(kidOf(before.callback.searchParams.get("state")));

    now.advance(60);
    const after = await atOne.toCallback();
    expect(kidOf(after.callback.searchParams.get("state"))).toBe(kid);
    // The other process has not heard of the new key: it looks again before it refuses.
    for (const flow of [after, before, during]) {
      const returned = await browse(atTwo(flow.callback), flow.jar);
      const code = new URL(returned.headers.get("location") ?? "about:blank").searchParams.get("code") ?? "";
      const answer = await atOne.post("/v1/token", atOne.redeemForm({ ...flow, code }), urlOfTwo);
      expect(answer.status, answer.text).toBe(200);
      readTokens(answer);
    }
    const form = {
      grant_type: "refresh_token",
      refresh_token: connected.refreshToken,
      connection: connected.connection,
    };
    const refreshed = await atOne.post("/v1/token", form, urlOfTwo);
    expect(refreshed.status, refreshed.text).toBe(200);
    readTokens(refreshed);
  });

  it("refuses a state of a key nobody ever had", async () => {
    const flow = await atOne.toCallback();
    const state = flow.callback.searchParams.get("state") ?? "";
    const [header = "", ...rest] = state.split(".");
    const forged = Buffer.from(header, "base64url")
      .toString()
      .replace(/"kid":"[^"]+"/, '"kid":"AAAAAAAA"');
    const url = new URL(flow.callback);
    url.searchParams.set("state", [Buffer.from(forged).toString("base64url"), ...rest].join("."));
    expectPage(await browse(atTwo(url), flow.jar), 400, "state_invalid");
  });
});
