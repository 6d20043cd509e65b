import { describe, expect, it } from "vitest";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { closeAfterEach, open } from "../testing/network/test-egress.ts";
import { createEgress, type EgressOptions } from "./index.ts";

const OPTIONS: EgressOptions = { allowLoopback: false, allowCidrs: [], timeoutMs: 2_000 };
const REFUSED = { name: "EgressError", kind: "refused", sent: false };
closeAfterEach();

describe("networks of the operator", () => {
  const options: EgressOptions = { ...OPTIONS, allowCidrs: ["10.20.0.0/16"] };
  const answers = new Map([
    ["idp.corp.internal", ["10.20.0.5"]],
    ["keycloak", ["10.20.0.6"]],
    ["elsewhere.internal", ["10.21.0.5"]],
    ["half.internal", ["10.20.0.5", "10.21.0.5"]],
    ["public.internal", ["8.8.8.8"]],
    ["sneaky.example", ["10.20.0.5"]],
  ]);

  it("reach any https port of a name or address inside", async () => {
    const { deps, sockets } = recordingNetwork(answers);
    const egress = open(options, deps);
    for (const url of ["https://idp.corp.internal:8443/", "https://keycloak/", "https://10.20.0.7:9443/"]) {
      await expect(egress.fetch(url)).rejects.toMatchObject({ kind: "connect", sent: false });
    }
    expect(sockets).toEqual(["10.20.0.5", "10.20.0.6", "10.20.0.7"]);
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
    const { deps, sockets } = recordingNetwork(answers);
    const egress = open(options, deps);
    await expect(egress.fetch(url)).rejects.toMatchObject(REFUSED);
    expect(sockets).toEqual([]);
  });

  it.each(["https://idp.corp.internal/", "https://sneaky.example/", "https://10.20.0.7/", "https://keycloak/"])(
    "bar#EG-3 stay out of reach of fetchUntrusted: %s",
    async (url) => {
      const { deps, sockets } = recordingNetwork(answers);
      const egress = open(options, deps);
      await expect(egress.fetchUntrusted(url)).rejects.toMatchObject(REFUSED);
      expect(sockets).toEqual([]);
    },
  );

  it("throws at start when a network is malformed", () => {
    expect(() => createEgress({ ...OPTIONS, allowCidrs: ["10.20.0.0"] })).toThrow(
      "not a network in CIDR notation: 10.20.0.0",
    );
  });
});
