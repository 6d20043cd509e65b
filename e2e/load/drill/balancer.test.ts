/** The balancer is what tells a roll without a gap from one with: so it must not hide a gap. */
import { createServer, type RequestListener } from "node:http";
import { listen } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it, vi } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handle: RequestListener): Promise<number> {
  const { port, close } = await listen(createServer(handle));
  closing.push(close);
  return port;
}

const answering =
  (text: string, readiness = 200): RequestListener =>
  ({ url }, response) => {
    response.writeHead(url === "/readyz" ? readiness : 200).end(text);
  };

async function startWith(...ports: readonly number[]): Promise<Balancer> {
  const balancer = await startBalancer();
  closing.push(async () => balancer.stop());
  for (const port of ports) balancer.add(port);
  return balancer;
}

const answers = async ({ url }: Balancer): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: 6 }, async () => (await fetch(url)).text()));

it("sends requests to ready processes only, in turn", async () => {
  const [one, two] = [await serve(answering("one")), await serve(answering("two"))];
  const balancer = await startWith(one, two, await serve(answering("draining", 503)));
  await vi.waitUntil(async () => new Set(await answers(balancer)).size === 2);
  expect(new Set(await answers(balancer))).toEqual(new Set(["one", "two"]));
});

it("sends them to all while none is ready", async () => {
  const balancer = await startWith(await serve(answering("unready", 503)));
  expect(await answers(balancer)).toEqual(Array(6).fill("unready"));
});

it("tries another process when one does not listen, and cuts the connection when none does", async () => {
  const closed = await freePort();
  const balancer = await startWith(closed, await serve(answering("open")));
  expect(await answers(balancer)).toEqual(Array(6).fill("open"));
  const alone = await startWith(closed);
  await expect(fetch(alone.url)).rejects.toThrow("fetch failed");
});

it("does not repeat a request whose connection was cut: the process may have acted on it", async () => {
  let requests = 0;
  const cutting = await serve(({ url }, response) => {
    if (url === "/readyz") return void response.end();
    requests += 1;
    response.destroy();
  });
  const balancer = await startWith(cutting);
  await expect(fetch(balancer.url, { method: "POST" })).rejects.toThrow("fetch failed");
  expect(requests).toBe(1);
});
