import { defineVendor } from "@oauth-broker/oauth-core";
import { errorPageWith, createLog, listen, mount } from "@oauth-broker/oauth-core/service";
import type { Context } from "hono";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { openHostedBench } from "../testing/hosted-bench.ts";
import { createCallerAddress } from "./caller-address.ts";
import { hostedRoutes } from "./routes.ts";

const from = (remoteAddress: string, forwarded?: string): Context =>
  ({ env: { incoming: { socket: { remoteAddress } } }, req: { header: () => forwarded } }) as unknown as Context;

it.each([
  ["no proxy is trusted", "203.0.113.9", "1.1.1.1", [], "203.0.113.9"],
  ["the peer is no proxy of ours", "203.0.113.9", "1.1.1.1", ["10.0.0.0/8"], "203.0.113.9"],
  ["one proxy", "10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["one proxy, seen as IPv6", "::ffff:10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["two proxies", "10.0.0.1", "203.0.113.9, 10.2.0.1", ["10.0.0.0/8"], "203.0.113.9"],
  ["what the caller wrote comes before", "10.0.0.1", "1.1.1.1, 203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"],
  ["nothing was forwarded", "10.0.0.1", undefined, ["10.0.0.0/8"], "10.0.0.1"],
])("bar#ST-8 the address is the one nearest that is not ours: %s", (_what, peer, forwarded, trusted, expected) => {
  expect(createCallerAddress(trusted)(from(peer, forwarded))).toBe(expected);
});

it("bar#ST-8 counts the OAuth paths per address, whatever a caller says it is", async () => {
  const vendor = defineVendor({
    id: "example",
    name: "Example",
    authorizationEndpoint: "https://vendor.example/authorize",
    tokenEndpoint: "https://vendor.example/token",
  });
  const limits = { requestsPerMinute: 2, trustedProxies: [] };
  const bench = openHostedBench({ vendor, settings: { limits } });
  const app = new Hono();
  mount(app, hostedRoutes(bench), { log: createLog({ write: () => {} }), errorPage: errorPageWith(), isHttps: false });
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  const ask = async (index: number) =>
    fetch(`http://127.0.0.1:${server.port}/authorize`, { headers: { "x-forwarded-for": `198.51.100.${index}` } });
  const statuses = [await ask(1), await ask(2), await ask(3)].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 429]);
  expect((await ask(4)).headers.get("retry-after")).toMatch(/^\d+$/);
  await server.stop(0);
  await bench.close();
});
