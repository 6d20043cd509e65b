/**
 * Row HT-5 of the bar: slow clients lose their connection, and other clients are not affected. The
 * soak takes the 15 s of that limit, with the built broker; `npm test` a fifth of it.
 */
import { HTTP_TIMEOUTS } from "@oauth-broker/service";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FORM, type HttpBroker, startHttpBroker } from "../../support/broker/http.ts";
import { exchange, type RawAnswer } from "../../support/raw-http.ts";
import { SHARE } from "../../support/broker/short-waits.ts";

const { entry, share } = volume<{ readonly entry: "dist" | "short-waits"; readonly share: number }>({
  test: { entry: "short-waits", share: SHARE },
  soak: { entry: "dist", share: 1 },
});
/** A busy machine may be late. */
const LATE_MS = 15_000;
const HEADERS_MS = HTTP_TIMEOUTS.headersMs / share;
const REQUEST_MS = HTTP_TIMEOUTS.requestMs / share;
const CHECK_MS = HTTP_TIMEOUTS.checkMs / share;
const TIMEOUT_MS = 60_000;

let broker: HttpBroker;
let port: number;

beforeAll(async () => {
  broker = await startHttpBroker(entry);
  port = broker.port;
});
afterAll(() => broker.close());

describe("bar#HT-5 slow clients", () => {
  it("have ten seconds for the headers of a request and fifteen for all of it", () => {
    expect(HTTP_TIMEOUTS.headersMs + HTTP_TIMEOUTS.checkMs).toBeLessThanOrEqual(12_000);
    expect(HTTP_TIMEOUTS.requestMs + HTTP_TIMEOUTS.checkMs).toBeLessThanOrEqual(17_000);
  });

  it("ends slow headers and slow bodies while others are served", async () => {
    const slowHead = exchange({ port, bytes: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", timeoutMs: TIMEOUT_MS });
    const slowBody = exchange({
      port,
      bytes: `${broker.head("POST /v1/par HTTP/1.1", FORM, "Content-Length: 100")}client_id=`,
      timeoutMs: TIMEOUT_MS,
    });
    const silent = exchange({ port, bytes: "", timeoutMs: TIMEOUT_MS });
    const idle: Promise<RawAnswer>[] = Array.from({ length: 200 }, () =>
      exchange({ port, bytes: broker.head("GET /healthz HTTP/1.1"), timeoutMs: TIMEOUT_MS }),
    );
    let slowOnesEnded = false;
    void Promise.race([slowHead, slowBody]).then(() => (slowOnesEnded = true));
    for (let count = 0; count < 20; count += 1) {
      expect(await broker.health()).toBe(200);
    }
    expect(slowOnesEnded).toBe(false);
    const [heads, bodies, silents, idles] = await Promise.all([slowHead, slowBody, silent, Promise.all(idle)]);
    expect(heads).toMatchObject({ isClosed: true, status: 408 });
    expect(heads.milliseconds).toBeLessThan(HEADERS_MS + CHECK_MS + LATE_MS);
    expect(bodies).toMatchObject({ isClosed: true, status: 408 });
    expect(bodies.milliseconds).toBeLessThan(REQUEST_MS + CHECK_MS + LATE_MS);
    expect(silents.isClosed).toBe(true);
    expect(idles.every(({ isClosed, status }) => isClosed && status === 200)).toBe(true);
  });
});
