/**
 * Row HT-5 of the bar: slow clients lose their connection, and other clients are not affected. The
 * soak takes the 15 s of that limit, with the built broker; `npm test` a fifth of it.
 */
import { HTTP_TIMEOUTS } from "@oauth-broker/service";
import { patience, shared, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { FORM, startHttpBroker } from "../../support/broker/http.ts";
import { exchange } from "../../support/raw-http.ts";

const entry = volume<"dist" | "short-waits">({ test: "short-waits", soak: "dist" });
/** Longer than both limits, and shorter than those of Node.js. */
const TIMEOUT_MS = patience(4_000);

const broker = shared(() => startHttpBroker(entry));

describe("bar#HT-5 slow clients", () => {
  it("have ten seconds for the headers of a request and fifteen for all of it", () => {
    expect(HTTP_TIMEOUTS.headersMs + HTTP_TIMEOUTS.checkMs).toBeLessThanOrEqual(12_000);
    expect(HTTP_TIMEOUTS.requestMs + HTTP_TIMEOUTS.checkMs).toBeLessThanOrEqual(17_000);
  });

  it("ends slow headers and slow bodies while others are served", async () => {
    const { port } = broker;
    const slowHead = exchange({ port, bytes: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", timeoutMs: TIMEOUT_MS });
    const slowBody = exchange({
      port,
      bytes: `${broker.head("POST /v1/par HTTP/1.1", FORM, "Content-Length: 100")}client_id=`,
      timeoutMs: TIMEOUT_MS,
    });
    const silent = exchange({ port, bytes: "", timeoutMs: TIMEOUT_MS });
    const idle = Array.from({ length: 200 }, () =>
      exchange({ port, bytes: broker.head("GET /healthz HTTP/1.1"), timeoutMs: TIMEOUT_MS }),
    );
    let slowOnesEnded = false;
    void Promise.race([slowHead, slowBody]).then(() => (slowOnesEnded = true));
    let servedBeside = 0;
    while (servedBeside < 20) {
      expect(await broker.health()).toBe(200);
      // On a busy machine twenty answers may take longer than the slow ones are allowed.
      if (slowOnesEnded) break;
      servedBeside += 1;
    }
    expect(servedBeside).toBeGreaterThan(0);
    const [heads, bodies, silents, idles] = await Promise.all([slowHead, slowBody, silent, Promise.all(idle)]);
    expect(heads).toMatchObject({ isClosed: true, status: 408 });
    expect(bodies).toMatchObject({ isClosed: true, status: 408 });
    expect(silents.isClosed).toBe(true);
    expect(idles.every(({ isClosed, status }) => isClosed && status === 200)).toBe(true);
  });
});
