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

  it("end a call whose answer has no room (many at once: limits.twin.test.ts)", async () => {
    const { origin } = await start((socket) => socket.write(httpAnswer("x".repeat(101))));
    const refused = open({ answerBounds: BOUNDS }).fetch(origin);
    const detail = expect.stringContaining("all the room") as unknown;
    await expect(refused).rejects.toMatchObject({ kind: "broken", sent: true, detail });
  });
});
