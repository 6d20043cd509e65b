/**
 * Who attacks: anyone who can open connections and takes his time over each. What he wants: all of the broker's. What stops
 * him: the time limits of the server (`LIMITS` in serve.ts), which are settings, not a function, so there is no twin.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { openWire } from "./support/wire.ts";
import { createWorld } from "./support/world.ts";

const FORM = "application/x-www-form-urlencoded";

describe("bar#HT-5 clients that never finish", () => {
  it("lose their connection within the limits, and others do not notice", async () => {
    const wire = await openWire(await createWorld({ vendors: [] }));
    const startedAt = performance.now();
    const closed = (text: string): Promise<number> => {
      const socket = connect({ host: "127.0.0.1", port: wire.port });
      const drip = setInterval(() => socket.write("a"), 1_000);
      socket
        .on("error", () => undefined)
        .resume()
        .write(text);
      return once(socket, "close").then(() => {
        clearInterval(drip);
        return performance.now() - startedAt;
      });
    };
    const head = "POST /v1/token HTTP/1.1\r\nHost: broker.example\r\n";
    const slowHeads = Array.from({ length: 50 }, async () => closed(`${head}X-Slow: `));
    const slowBodies = Array.from({ length: 50 }, async () =>
      closed(`${head}Content-Type: ${FORM}\r\nContent-Length: 60000\r\n\r\na=`),
    );
    const silent = Array.from({ length: 50 }, async () => closed(""));
    const healthy: number[] = [];
    for (let number = 0; number < 20; number += 1) {
      const at = performance.now();
      expect((await wire.send({ path: "/healthz" })).status).toBe(200);
      healthy.push(performance.now() - at);
    }
    expect(healthy.toSorted((a, b) => a - b)[10]).toBeLessThan(250);
    // 10 s for a head, 15 s for all of it, looked at every 2 s; Node's own would be 60 s and 300 s.
    expect(Math.max(...(await Promise.all(slowHeads)), ...(await Promise.all(silent)))).toBeLessThan(20_000);
    expect(Math.max(...(await Promise.all(slowBodies)))).toBeLessThan(25_000);
  });
});
