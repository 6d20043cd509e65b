/** The twin of proxy.test.ts: asked for addresses too, the proxy connects to one. */
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { startForwardProxy } from "../testing/network/forward-proxy.ts";
import { startLoopbackServer } from "../testing/network/loopback-server.ts";
import { weaken } from "../testing/weaken.ts";
import { createEgress } from "./index.ts";
import * as proxies from "./proxy.ts";

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
  weaken(proxies, () => ({ wayTo: () => "proxy" }));
  await expect(ask()).resolves.toMatchObject({ kind: "connect" });
  expect(proxy.asked).toEqual(["8.8.8.8:443"]);
  await proxy.close();
  await inside.close();
});
