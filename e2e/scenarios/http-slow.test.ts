/**
 * Row HT-5 of the bar: slow clients lose their connection, and other clients are not affected.
 * Takes the 15 s of that limit.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FORM, type HttpBroker, startHttpBroker } from "../support/http-broker.ts";
import { exchange, type RawAnswer } from "../support/raw-http.ts";

let broker: HttpBroker;
let port: number;

beforeAll(async () => {
  broker = await startHttpBroker();
  port = broker.port;
});
afterAll(() => broker.close());

describe("bar#HT-5 slow clients", () => {
  it("ends slow headers and slow bodies while others are served", async () => {
    const slowHead = exchange({ port, bytes: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", timeoutMs: 20_000 });
    const slowBody = exchange({
      port,
      bytes: `${broker.head("POST /v1/par HTTP/1.1", FORM, "Content-Length: 100")}client_id=`,
      timeoutMs: 25_000,
    });
    const silent = exchange({ port, bytes: "", timeoutMs: 20_000 });
    const idle: Promise<RawAnswer>[] = Array.from({ length: 200 }, () =>
      exchange({ port, bytes: broker.head("GET /healthz HTTP/1.1"), timeoutMs: 20_000 }),
    );
    for (let count = 0; count < 20; count += 1) {
      const startedAt = performance.now();
      expect(await broker.health()).toBe(200);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }
    const [heads, bodies, silents, idles] = await Promise.all([slowHead, slowBody, silent, Promise.all(idle)]);
    expect(heads).toMatchObject({ isClosed: true, status: 408 });
    expect(heads.milliseconds).toBeLessThan(14_000);
    expect(bodies).toMatchObject({ isClosed: true, status: 408 });
    expect(bodies.milliseconds).toBeLessThan(19_000);
    expect(silents.isClosed).toBe(true);
    expect(idles.every(({ isClosed, status }) => isClosed && status === 200)).toBe(true);
  });
});
