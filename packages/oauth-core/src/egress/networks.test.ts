import { describe, expect, it } from "vitest";
import { closeAfterEach, tryToReach } from "../testing/network/test-egress.ts";
import { createEgress, type EgressOptions } from "./index.ts";

const OPTIONS: EgressOptions = { allowLoopback: false, allowCidrs: ["10.20.0.0/16"], timeoutMs: 2_000 };
closeAfterEach();

describe("networks of the operator", () => {
  const answers = new Map([
    ["idp.corp.internal", ["10.20.0.5"]],
    ["keycloak", ["10.20.0.6"]],
    ["elsewhere.internal", ["10.21.0.5"]],
    ["half.internal", ["10.20.0.5", "10.21.0.5"]],
    ["public.internal", ["8.8.8.8"]],
    ["sneaky.example", ["10.20.0.5"]],
  ]);

  it.each([
    ["https://idp.corp.internal:8443/", "10.20.0.5"],
    ["https://keycloak/", "10.20.0.6"],
    ["https://10.20.0.7:9443/", "10.20.0.7"],
  ])("open any https port of a name or address inside: %s", async (url, address) => {
    expect((await tryToReach(url, OPTIONS, { answers })).sockets).toEqual([address]);
  });

  it.each([
    "https://elsewhere.internal/",
    "https://half.internal/",
    "https://public.internal/",
    "https://vendor.example:8443/",
    "http://idp.corp.internal/",
    "https://10.21.0.7/",
    "https://127.0.0.1/",
  ])("do not open %s", async (url) => {
    expect((await tryToReach(url, OPTIONS, { answers })).sockets).toEqual([]);
  });

  it.each(["https://idp.corp.internal/", "https://sneaky.example/", "https://10.20.0.7/", "https://keycloak/"])(
    "bar#EG-3 stay out of reach of fetchUntrusted: %s",
    async (url) => {
      expect((await tryToReach(url, OPTIONS, { answers, door: "fetchUntrusted" })).sockets).toEqual([]);
    },
  );

  it("throws at start when a network is malformed", () => {
    expect(() => createEgress({ ...OPTIONS, allowCidrs: ["10.20.0.0"] })).toThrow(
      "not a network in CIDR notation: 10.20.0.0",
    );
  });
});
