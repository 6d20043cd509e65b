/**
 * Free ports. A base_url names its port before anything listens, so the port must be known first.
 * Chosen below the range the system uses for outgoing connections, from a range of this process's
 * own, so that neither two concurrent test files nor an outgoing connection collide.
 */
import { once } from "node:events";
import { createServer } from "node:net";

const FIRST = 15_000;
const STRETCH = 200;
const STRETCHES = 80;

let next = FIRST + (process.pid % STRETCHES) * STRETCH;

/** @returns a port on 127.0.0.1 that was free a moment ago; another one at each call */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = next;
    next = port + 1 < FIRST + STRETCHES * STRETCH ? port + 1 : FIRST;
    if (await isFreePort(port)) return port;
  }
  throw new Error("No free port below the ephemeral range");
}

export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
