/** The attacks of limits.test.ts and answer-budget.test.ts with one defence off at a time: they succeed. */
import { expect, it } from "vitest";
import * as collectors from "../mechanics/byte-collector.ts";
import { httpAnswer } from "../testing/network/loopback-server.ts";
import { closeAfterEach, open, start } from "../testing/network/test-egress.ts";
import { weaken } from "../testing/weaken.ts";
import { type AnswerBounds, isEgressError } from "./index.ts";
import { onBehalfOf } from "./share.ts";

closeAfterEach();

it("twin: without a bound on chunks each byte becomes a buffer that is kept (bar#EG-8)", async () => {
  const CHUNKS = 20_000;
  const server = await start((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(CHUNKS)}0\r\n\r\n`),
  );
  await expect(open().fetch(server.origin)).rejects.toMatchObject({ kind: "too_large" });
  const kept: Uint8Array[] = [];
  weaken(collectors, () => ({
    createByteCollector: () => ({
      add: (chunk) => void kept.push(chunk),
      bytes: () => new Uint8Array(Buffer.concat(kept)),
    }),
  }));
  expect(await (await open().fetch(server.origin)).text()).toHaveLength(CHUNKS);
  expect(kept).toHaveLength(CHUNKS);
});

const KIB_250 = 250 * 1024;
const BOUND = 10 * KIB_250;

/**
 * Each call is at an origin of its own, whose answer never ends.
 *
 * @param clients one for each call
 * @param most how many of the calls may hold their answers
 * @returns how many calls still hold their answers, and whether another client is answered
 */
async function holdAnswers(
  answerBounds: AnswerBounds,
  clients: readonly string[],
  most: number,
): Promise<{ readonly held: number; readonly isOtherAnswered: boolean }> {
  const egress = open({ timeoutMs: 60_000, answerBounds });
  const given = new AbortController();
  let [arrived, refused] = [0, 0];
  const calls = clients.map(async (clientId) => {
    const { origin } = await start((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${KIB_250 + 1}\r\n\r\n${"x".repeat(KIB_250)}`, () => {
        arrived += 1;
      }),
    );
    await onBehalfOf({ clientId }, () =>
      egress.fetch(origin, { signal: given.signal }).catch((error: unknown) => {
        if (isEgressError(error) && error.kind === "broken") refused += 1;
      }),
    );
  });
  await expect.poll(() => arrived === clients.length && refused >= clients.length - most).toBe(true);
  const { origin } = await start((socket) => socket.end(httpAnswer("x".repeat(KIB_250))));
  const other = await onBehalfOf({ clientId: "other" }, () => egress.fetch(origin).catch(() => undefined));
  const held = clients.length - refused;
  given.abort();
  await Promise.all(calls);
  return { held, isOtherAnswered: other !== undefined };
}

it("twin: without a share one client takes the room of all (bar#ST-8)", async () => {
  const loud = Array.from({ length: 24 }, () => "loud");
  expect(await holdAnswers({ ofProcess: 2 * BOUND, ofCaller: BOUND }, loud, 10)).toMatchObject({
    isOtherAnswered: true,
  });
  expect(await holdAnswers({ ofProcess: 2 * BOUND, ofCaller: Infinity }, loud, 20)).toMatchObject({
    isOtherAnswered: false,
  });
});

it("twin: without a bound many clients fill the memory of the process (bar#ST-8)", async () => {
  const many = Array.from({ length: 24 }, (_, at) => `client-${at}`);
  expect((await holdAnswers({ ofProcess: BOUND, ofCaller: BOUND }, many, 10)).held).toBeLessThanOrEqual(10);
  expect((await holdAnswers({ ofProcess: Infinity, ofCaller: BOUND }, many, 24)).held).toBe(24);
});
