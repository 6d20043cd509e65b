/**
 * Attacker: a vendor that controls its registration endpoint, or a platform of another owner. Goal:
 * our requests into the network behind the broker, or the initial access token of an
 * organization. Defence: the broker connects to public addresses only (isPublicAddress), a token
 * stays below the vendor's own domain (requireHostOfVendor) and serves the vendor and the owner it
 * was entered for (configuredToken). egress.attack.test.ts shows that no redirect takes it
 * elsewhere.
 */
import { Secret } from "@oauth-broker/oauth-core";
import * as addressRangesModule from "../../packages/oauth-core/src/egress/address-ranges.ts";
import * as endpointModule from "../../packages/oauth-core/src/vendor-client/registration/endpoint.ts";
import * as entryModule from "@oauth-broker/broker/src/vendor-choice/entry.ts";
import { describe, expect, it } from "vitest";
import { without } from "./support/outcomes.ts";
import { hostOf, IAT, register, setUpRegistration } from "./support/registration-fixture.ts";
import { fixtureOf, SAMPLE } from "./support/guarded-network.ts";

describe("bar#EG-1 bar#DI-2 a registration endpoint in metadata that points behind the broker", () => {
  /** @returns the error each registration ends with */
  async function registerAtAll(urls: readonly string[]) {
    const { fixture, network } = await fixtureOf(urls, "registration_endpoint");
    const errors: string[] = [];
    for (const index of urls.keys()) {
      const { body } = await register(fixture, { vendor: `v${index}` });
      errors.push(String((JSON.parse(body) as { error: string }).error));
    }
    return { network, errors, fixture };
  }

  it("bar#EG-9 is refused before a socket is opened, and reveals nothing of the network", async () => {
    const { network, errors, fixture } = await registerAtAll(SAMPLE.map(({ url }) => url));
    const wrong = SAMPLE.flatMap(({ label, stoppedBy, url }, index) => {
      const expected =
        url === "" ? "invalid_request" : stoppedBy === "answer" ? "temporarily_unavailable" : "vendor_response_invalid";
      return errors[index] === expected ? [] : [`${label}: ${errors[index]}`];
    });
    expect(wrong).toEqual([]);
    expect(network.sockets).toEqual([]);
    expect(new Set(fixture.exchanges.map(({ body }) => body)).size).toBeLessThanOrEqual(3);
  });

  it("bar#EG-1 twin: without isPublicAddress our request is on its way to the metadata service", async () => {
    without(addressRangesModule, () => ({ isPublicAddress: () => true }));
    const { network } = await registerAtAll([
      "https://169.254.169.254/latest",
      "https://10.0.0.1/",
      "https://[fd00:ec2::254]/",
    ]);
    expect(network.sockets).toEqual(["169.254.169.254", "10.0.0.1", "fd00:ec2::254"]);
  });
});

describe("bar#BY-4 an initial access token", () => {
  const moved = { registration_endpoint: "https://collector.example/register" };

  it("is not sent to an endpoint of changed metadata, neither the owner's nor the caller's", async () => {
    const { register, registrations } = await setUpRegistration(moved);
    for (const members of [{}, { initial_access_token: "iat-of-the-caller" }]) {
      const { status, body } = await register({ vendor: "honest", ...members });
      expect([status, JSON.parse(body)]).toEqual([
        502,
        expect.objectContaining({ error: "vendor_response_invalid", reason: "credential_binding_mismatch" }),
      ]);
    }
    expect(registrations()).toEqual([]);
  });

  it("bar#BY-4 twin: without requireHostOfVendor the other host has it", async () => {
    without(endpointModule, () => ({ requireHostOfVendor: () => {} }));
    const { register, registrations } = await setUpRegistration(moved);
    await register({ vendor: "honest" });
    expect(registrations().map((request) => [hostOf(request), request.headers.get("authorization")])).toEqual([
      ["collector.example", `Bearer ${IAT}`],
    ]);
  });

  /** The vendor it is for and another one, each requested by its owner and by another owner. */
  async function registerEverywhere() {
    const { register, registrations } = await setUpRegistration();
    for (const who of ["platform", "other"] as const) {
      for (const vendor of ["honest", "evil"]) expect((await register({ vendor }, who)).status).toBe(201);
    }
    return registrations().map((request) => [hostOf(request), request.headers.get("authorization")]);
  }

  it("goes to the vendor it was entered for, and serves only its owner", async () => {
    expect(await registerEverywhere()).toEqual([
      ["honest.example", `Bearer ${IAT}`],
      ["evil.example", null],
      ["honest.example", null],
      ["evil.example", null],
    ]);
  });

  it("bar#BY-4 twin: with one token for all, another vendor has it and another owner uses it", async () => {
    // As a broker with one token for all owners.
    without(entryModule, () => ({ configuredToken: () => new Secret(IAT) }));
    expect(await registerEverywhere()).toEqual(
      ["honest", "evil", "honest", "evil"].map((vendor) => [`${vendor}.example`, `Bearer ${IAT}`]),
    );
  });
});
