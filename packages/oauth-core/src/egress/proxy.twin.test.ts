/** The twin of proxy.test.ts: asked for addresses too, the proxy connects to one. */
import { createServer } from "node:net";
import { expect, it, vi } from "vitest";
import { startForwardProxy } from "../testing/network/forward-proxy.ts";
import { startLoopbackServer } from "../testing/network/loopback-server.ts";
import { createEgress } from "./index.ts";
import type * as proxies from "./proxy.ts";

const off = vi.hoisted(() => new Set<string>());
vi.mock("./proxy.ts", async (original) => {
  const known = await original<typeof proxies>();
  const wayTo: typeof known.wayTo = (hostname) => (off.has("names") ? "proxy" : known.wayTo(hostname));
  return { ...known, wayTo };
});

it("bar#EG-11 without the rule on names the proxy is led to an address inside", async () => {
  const inside = await startLoopbackServer(() => undefined, { server: createServer((socket) => socket.end()) });
  const proxy = await startForwardProxy(inside.port);
  const ask = async (): Promise<unknown> => {
    const egress = createEgress({ allowLoopback: false, allowCidrs: [], timeoutMs: 5_000, proxy: proxy.url });
    const failed = await egress.fetch("https://8.8.8.8/latest/meta-data").catch((error: unknown) => error);
    await egress.close();
    return failed;
  };
  await expect(ask()).resolves.toMatchObject({ kind: "refused" });
  expect(proxy.asked).toEqual([]);
  off.add("names");
  await expect(ask()).resolves.toMatchObject({ kind: "connect" });
  expect(proxy.asked).toEqual(["8.8.8.8:443"]);
  await proxy.close();
  await inside.close();
});
