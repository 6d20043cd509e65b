/** Any https port of a host that the operator wrote down; elsewhere 443. */
import { describe, expect, it } from "vitest";
import { metadataOfEachTest } from "../testing/network/metadata-world.ts";
import { defineVendor } from "../registry/vendor.ts";
import { closeAfterEach, tryToReach } from "../testing/network/test-egress.ts";
import type { EgressOptions } from "./index.ts";
import { operatorsHosts } from "./url.ts";

const OPTIONS: EgressOptions = {
  allowLoopback: false,
  allowCidrs: [],
  timeoutMs: 2_000,
  operatorUrls: ["https://sso.customer.example:8443", "https://{region}.idp.example:9443/t", "http://plain.example"],
};
closeAfterEach();

const OWN = [
  "https://sso.customer.example:8443/t",
  "https://sso.customer.example:9000/",
  "https://eu.idp.example:9443/",
];

describe("a port of the operator's", () => {
  it.each(OWN)("is reached: %s", async (url) => {
    expect((await tryToReach(url, OPTIONS)).sockets).toEqual(["8.8.8.8"]);
  });

  it.each([...OWN, "https://vendor.example:8443/"])("bar#EG-7 is not a caller's: %s", async (url) => {
    expect((await tryToReach(url, OPTIONS, { door: "fetchUntrusted" })).sockets).toEqual([]);
  });

  it.each([
    "https://vendor.example:8443/",
    "https://x.sso.customer.example:8443/",
    "https://eu.west.idp.example:9443/",
    "https://plain.example:8443/",
    "http://sso.customer.example:8443/",
    "https://127.0.0.1:8443/",
  ])("bar#EG-7 opens no other, and no name is looked up for one: %s", async (url) => {
    expect(await tryToReach(url, OPTIONS)).toMatchObject({ sockets: [], names: [] });
  });

  it("bar#EG-7 opens no other for a private network: public addresses answer on 443", async () => {
    const options = { ...OPTIONS, allowCidrs: ["10.0.0.0/8"] };
    expect((await tryToReach("https://vendor.example:8443/", options)).sockets).toEqual([]);
  });

  it("bar#EG-1 opens no private address", async () => {
    const answers = new Map([["sso.customer.example", ["10.0.0.1"]]]);
    expect((await tryToReach(OWN[0] ?? "", OPTIONS, { answers })).sockets).toEqual([]);
  });
});

it.each(["https://{host}/t", "https://{host}:8443", "https://{a}.{b}/", "https://{a}.com/"])(
  "a placeholder that can stand for a whole host opens none: %s",
  (template) => {
    expect(operatorsHosts([template])("attacker.com")).toBe(false);
    expect(operatorsHosts([template])("localhost")).toBe(false);
  },
);

describe("metadata of the operator's issuer", () => {
  const world = metadataOfEachTest();
  const issuer = "https://sso.customer.example:8443";
  const resolve = async (tokenEndpoint: string, operatorUrls: readonly string[]): Promise<unknown> => {
    const document = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: tokenEndpoint };
    world.publish(`${issuer}/.well-known/openid-configuration`, document);
    return world.discover({ operatorUrls }).resolve(defineVendor({ id: "v", name: "V", issuer }));
  };

  it("may name any port at its own host", async () => {
    const tokenEndpoint = "https://sso.customer.example:9443/token";
    await expect(resolve(tokenEndpoint, [issuer])).resolves.toMatchObject({ tokenEndpoint });
  });

  it.each([
    ["at another host", "https://api.customer.example:9443/token", [issuer]],
    ["at another host of the operator's", "https://other.example:9443/t", [issuer, "https://other.example:9443"]],
    ["of a caller's issuer", `${issuer}/token`, []],
  ])("bar#DI-2 may name none %s", async (_what, tokenEndpoint, urls) => {
    await expect(resolve(tokenEndpoint, urls)).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "endpoint_forbidden" },
    });
  });
});
