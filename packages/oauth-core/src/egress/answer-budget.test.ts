import { describe, expect, it } from "vitest";
import { httpAnswer } from "../testing/network/loopback-server.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import { createAnswerBudget } from "./answer-budget.ts";
import { onBehalfOf } from "./share.ts";

closeAfterEach();

const BOUNDS = { ofProcess: 100, ofCaller: 40 };

describe("bar#ST-8 the bytes of answers that a process holds", () => {
  it("are bounded for each client, and for all together", () => {
    const hold = createAnswerBudget(BOUNDS);
    const by = (clientId: string) => onBehalfOf({ clientId }, hold);
    const first = by("loud");
    expect([first.grow(30), first.grow(11), by("loud").grow(10), by("loud").grow(1)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([by("b").grow(40), by("c").grow(21), by("c").grow(20), by("d").grow(1)]).toEqual([true, false, true, false]);
  });

  it("are given back when a call for no client in particular ends, once", () => {
    const hold = createAnswerBudget(BOUNDS);
    const call = hold();
    expect([call.grow(100), hold().grow(1)]).toEqual([true, false]);
    call.done();
    call.done();
    expect([call.grow(1), hold().grow(100), hold().grow(1)]).toEqual([false, true, false]);
  });

  it("are held for a client until the request that fetched them has ended", async () => {
    const hold = createAnswerBudget(BOUNDS);
    const ended = Promise.withResolvers<void>();
    const request = onBehalfOf({ clientId: "loud" }, async () => {
      const call = hold();
      call.grow(40);
      call.done();
      await ended.promise;
    });
    const more = (): boolean => onBehalfOf({ clientId: "loud" }, () => hold().grow(1));
    expect(more()).toBe(false);
    ended.resolve();
    await request;
    expect(more()).toBe(true);
  });

  it("refuse one client's calls at many origins, and not another's", async () => {
    const KIB_250 = 250 * 1024;
    // Each is an origin, with connections of its own. None of their answers ends.
    const servers = await Promise.all(
      Array.from({ length: 24 }, () =>
        start((socket) =>
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${KIB_250 + 1}\r\n\r\n${"x".repeat(KIB_250)}`),
        ),
      ),
    );
    const egress = open({ timeoutMs: 60_000, answerBounds: { ofProcess: 40 * KIB_250, ofCaller: 10 * KIB_250 } });
    const given = new AbortController();
    const refused: unknown[] = [];
    const calls = servers.map(({ origin }) =>
      onBehalfOf({ clientId: "loud" }, () =>
        egress.fetch(origin, { signal: given.signal }).catch((error: unknown) => {
          if (!given.signal.aborted) refused.push(error);
        }),
      ),
    );
    // One that is refused gives its part back: at most ten are left.
    await expect.poll(() => refused.length).toBeGreaterThanOrEqual(14);
    expect(refused[0]).toMatchObject({ kind: "broken", sent: true, detail: expect.stringContaining("all the room") });
    const answered = await start((socket) => socket.end(httpAnswer("x".repeat(KIB_250))));
    const quiet = await onBehalfOf({ clientId: "quiet" }, () => egress.fetch(answered.origin));
    expect(await quiet.text()).toHaveLength(KIB_250);
    given.abort();
    await Promise.all(calls);
  });
});
