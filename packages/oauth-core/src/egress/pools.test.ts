import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { httpAnswer } from "../testing/network/loopback-server.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import { isEgressError } from "./index.ts";

closeAfterEach();

describe("pools", () => {
  it("are 256 at most: the one not used for longest is closed", async () => {
    const { deps } = recordingNetwork();
    const made: unknown[] = [];
    const egress = open(
      {},
      { ...deps, buildConnector: (options) => (made.push(options), deps.buildConnector(options)) },
    );
    const call = (index: number): Promise<unknown> =>
      egress.fetch(`https://v${index}.vendor.example/`).catch(() => undefined);
    for (let index = 0; index < 256; index += 1) await call(index);
    await call(0);
    expect(made.length).toBe(256);
    await call(256);
    await call(0);
    expect(made.length).toBe(257);
    await call(1);
    expect(made.length).toBe(258);
  });

  it("have at most 50 connections and 1000 calls per caller and origin; more fail", async () => {
    const held = new Set<Socket>();
    let [isHeld, most] = [true, 0];
    const answer = (socket: Socket): void => {
      held.delete(socket);
      socket.write(httpAnswer("late"));
    };
    const server = await start((socket) => {
      most = Math.max(most, held.add(socket).size);
      if (!isHeld) answer(socket);
    });
    const egress = open();
    const call = (): Promise<unknown> =>
      egress.fetch(server.origin).then(
        (response) => response.text(),
        (error: unknown) => error,
      );
    const calls = Array.from({ length: 1_001 }, call);
    expect(await calls.at(-1)).toMatchObject({ kind: "connect", sent: false });
    await expect.poll(() => held.size).toBe(50);
    isHeld = false;
    held.forEach(answer);
    expect(new Set(await Promise.all(calls.slice(0, 1_000)))).toEqual(new Set(["late"]));
    expect(most).toBe(50);
    expect(await call()).toBe("late");
  });

  it("end a call in time that waits for its turn", async () => {
    const server = await start(() => undefined);
    const egress = open({ timeoutMs: 300 });
    const calls = Array.from({ length: 1_000 }, () => egress.fetch(server.origin).catch((error: unknown) => error));
    const errors = (await Promise.all(calls)).filter(isEgressError);
    expect(errors.filter(({ kind }) => kind === "timeout")).toHaveLength(1_000);
    // The first that give up make room, so some of the others are sent.
    expect(errors.some(({ sent }) => !sent)).toBe(true);
  });

  it("finish what waits for its turn when closed", async () => {
    const server = await start((socket) => void socket.write(httpAnswer("last")));
    const egress = open();
    const calls = Array.from({ length: 60 }, async () => (await egress.fetch(server.origin)).text());
    await egress.close();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["last"]));
  });

  it("finish what is under way when closed, and take nothing new", async () => {
    const asked = Promise.withResolvers<Socket>();
    const server = await start((socket) => asked.resolve(socket));
    const egress = open();
    const call = egress.fetch(server.origin);
    const socket = await asked.promise;
    const closed = egress.close();
    socket.write(httpAnswer("last"));
    expect(await (await call).text()).toBe("last");
    await closed;
    await expect(egress.fetch(server.origin)).rejects.toMatchObject({ kind: "connect", sent: false });
    await egress.close();
  });
});
