import { Socket } from "node:net";
import { buildConnector } from "undici";
import { describe, expect, it, vi } from "vitest";
import { httpAnswer, startLoopbackServer } from "../testing/network/loopback-server.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { type AddressPolicy, createGuardedConnector, guardedLookup } from "./guarded-connection.ts";
import { createTrust } from "./trust-anchors.ts";
import { closeAfterEach, open, start, tryToReach } from "../testing/network/test-egress.ts";
import type { EgressDeps, EgressOptions } from "./index.ts";

const OPTIONS: EgressOptions = { allowLoopback: false, allowCidrs: [], timeoutMs: 2_000 };
const REFUSED = { name: "EgressError", kind: "refused", sent: false };
closeAfterEach();

const answersOf = (...turns: readonly (readonly string[])[]): EgressDeps["lookup"] => {
  let turn = 0;
  return async () =>
    (turns[turn++] ?? turns.at(-1) ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

describe("names", () => {
  it("bar#EG-4 refuses a name that answers publicly first and privately the next time", async () => {
    const { deps, sockets } = recordingNetwork();
    const egress = open(OPTIONS, { ...deps, lookup: answersOf(["8.8.8.8"], ["127.0.0.1"], ["8.8.4.4"]) });
    await expect(egress.fetch("https://rebind.example/")).rejects.toMatchObject({ kind: "connect", sent: false });
    await expect(egress.fetch("https://rebind.example/")).rejects.toMatchObject(REFUSED);
    await expect(egress.fetch("https://rebind.example/")).rejects.toMatchObject({ kind: "connect" });
    expect(sockets).toEqual(["8.8.8.8", "8.8.4.4"]);
  });

  it("bar#EG-4 asks once per connection, so that nothing can change between check and connect", async () => {
    const { names, sockets } = await tryToReach("https://vendor.example/", OPTIONS);
    expect([names, sockets]).toEqual([["vendor.example"], ["8.8.8.8"]]);
  });

  it.each([[["8.8.8.8", "10.0.0.1"]], [["10.0.0.1", "8.8.8.8"]], [["2606:4700::1111", "::1"]], [[]]])(
    "bar#EG-4 refuses the answer %j as a whole",
    async (answer) => {
      const answers = new Map([["mixed.example", answer]]);
      expect((await tryToReach("https://mixed.example/", OPTIONS, { answers })).sockets).toEqual([]);
    },
  );

  it("bar#EG-4 hands Happy Eyeballs all checked addresses, and a caller that wants one the first", async () => {
    const target = { hostname: "vendor.example", protocol: "https:", port: "" };
    const lookup = guardedLookup(
      target,
      { allowLoopback: false, refusedHosts: new Set() },
      answersOf(["2606:4700::1111", "8.8.8.8"]),
    );
    const ask = (all: boolean): Promise<unknown> =>
      new Promise((resolve) =>
        lookup("vendor.example", { all }, (error, address, family) => resolve(error ?? [address, family])),
      );
    expect(await ask(true)).toEqual([
      [
        { address: "2606:4700::1111", family: 6 },
        { address: "8.8.8.8", family: 4 },
      ],
      undefined,
    ]);
    expect(await ask(false)).toEqual(["2606:4700::1111", 6]);
  });

  it("bar#EG-4 moves on to the next checked address when one does not answer", async () => {
    const server = await start((socket) => socket.write(httpAnswer("ok")));
    const egress = open({ ...OPTIONS, allowLoopback: true });
    // `localhost` is 127.0.0.1 and ::1; the server listens on the first alone.
    const answer = await egress.fetch(`http://localhost:${server.port}/`);
    expect(await answer.text()).toBe("ok");
  });

  it("bar#EG-5 does not use DNS for localhost", async () => {
    const answers = new Map([["localhost", ["8.8.8.8"]]]);
    const { names, sockets } = await tryToReach(
      "http://localhost:9/",
      { ...OPTIONS, allowLoopback: true },
      { answers },
    );
    expect([names, sockets]).toEqual([[], ["127.0.0.1", "::1"]]);
  });

  it("refuses a public name that leads to loopback, even where loopback is allowed", async () => {
    const options = { ...OPTIONS, allowLoopback: true };
    const answers = new Map([["sneaky.example", ["127.0.0.1"]]]);
    expect((await tryToReach("https://sneaky.example/", options, { answers })).sockets).toEqual([]);
  });

  it("bar#EG-5 refuses our own hosts through fetchUntrusted only", async () => {
    const options = { ...OPTIONS, refusedHosts: ["broker.example"] };
    const untrusted = await tryToReach("https://BROKER.example/", options, { door: "fetchUntrusted" });
    expect(untrusted.sockets).toEqual([]);
    expect((await tryToReach("https://broker.example/", options)).sockets).toEqual(["8.8.8.8"]);
  });
});

it("bar#EG-4 peers drops a connection whose peer is not admitted, before anything is written", async () => {
  const { port, received, close } = await startLoopbackServer(() => undefined);
  // A connector that was talked into another address than the checked one.
  const astray: EgressDeps["buildConnector"] = () => {
    const connect = buildConnector({ allowH2: false });
    return (_target, callback) => connect({ hostname: "127.0.0.1", protocol: "http:", port: String(port) }, callback);
  };
  const egress = open(OPTIONS, { ...recordingNetwork().deps, buildConnector: astray });
  await expect(egress.fetch("https://vendor.example/", { method: "POST", body: "code=x" })).rejects.toMatchObject(
    REFUSED,
  );
  await close();
  expect(received.join("")).toBe("");
});

// Without index.ts in front, whose URL rules refuse most of this first.
describe("createGuardedConnector", () => {
  type Build = EgressDeps["buildConnector"];
  const policy: AddressPolicy = { allowLoopback: false, refusedHosts: new Set() };
  const peerAt = (address: string): Socket => Object.defineProperty(new Socket(), "remoteAddress", { value: address });
  const connect = (url: string, build: Build, rules = policy, connectTimeoutMs = 1_000): Promise<unknown> => {
    const deps = {
      ...recordingNetwork().deps,
      buildConnector: build,
      connectTimeoutMs,
      secureContext: createTrust(undefined),
    };
    const { hostname, protocol, port } = new URL(url);
    const connector = createGuardedConnector(new URL(url), rules, deps);
    return new Promise((resolve) =>
      connector({ hostname, protocol, port }, (error, socket) => resolve(error ?? socket)),
    );
  };

  it.each(["https://10.0.0.1/", "https://[::1]/", "http://8.8.8.8/", "https://8.8.8.8:8443/"])(
    "bar#EG-1 asks for no connection to %s",
    async (url) => {
      const build = vi.fn<Build>(() => (_target, callback) => callback(null, peerAt("8.8.8.8")));
      expect(await connect(url, build)).toMatchObject(REFUSED);
    },
  );

  it.each([
    ["https://vendor.example/", "8.8.8.8", true],
    ["https://vendor.example/", "10.0.0.1", false],
    ["https://vendor.example/", "::ffff:8.8.8.8", false],
    ["http://vendor.example/", "8.8.8.8", false],
    ["https://db.internal/", "8.8.8.8", false],
    ["http://localhost:9/", "127.0.0.1", true],
    ["http://localhost:9/", "8.8.8.8", false],
  ])("bar#EG-4 checks for %s the peer %s", async (url, peer, admitted) => {
    const socket = peerAt(peer);
    const outcome = await connect(url, () => (_target, callback) => callback(null, socket), {
      ...policy,
      allowLoopback: true,
    });
    if (admitted) expect(outcome).toBe(socket);
    else expect(outcome).toMatchObject(REFUSED);
    expect(socket.destroyed).toBe(!admitted);
  });

  it("closes a connection that comes about too late", async () => {
    const socket = peerAt("8.8.8.8");
    let arrive = (): void => undefined;
    const build: Build = () => (_target, callback) => (arrive = () => callback(null, socket));
    expect(await connect("https://vendor.example/", build, policy, 10)).toMatchObject({ kind: "connect", sent: false });
    arrive();
    expect(socket.destroyed).toBe(true);
  });
});

it("look-ups of fetchUntrusted are its own", async () => {
  const { deps } = recordingNetwork();
  const asked: string[] = [];
  const noting =
    (door: string): EgressDeps["lookup"] =>
    (host) => (asked.push(`${door} ${host}`), deps.lookup(host));
  const egress = open(OPTIONS, { ...deps, lookup: noting("trusted"), lookupUntrusted: noting("untrusted") });
  await egress.fetch("https://a.example/").catch(() => undefined);
  await egress.fetchUntrusted("https://b.example/").catch(() => undefined);
  expect(asked).toEqual(["trusted a.example", "untrusted b.example"]);
});
