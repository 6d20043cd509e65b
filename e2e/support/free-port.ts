/**
 * Free ports. A base_url names its port before anything listens, so the port must be known first.
 * Chosen below the range the system uses for outgoing connections, from a stretch that this process
 * holds as long as it lives, so that neither two processes of tests nor an outgoing connection collide.
 */
import { once } from "node:events";
import { createServer } from "node:net";

const FIRST = 15_000;
const STRETCH = 200;
const STRETCHES = 80;

let held: Promise<number> | undefined;
let given = 0;

/** @returns a port on 127.0.0.1 that was free a moment ago; another one at each call */
export async function freePort(): Promise<number> {
  const first = await (held ??= holdStretch());
  for (let tries = 1; tries < STRETCH; tries += 1) {
    given = (given % (STRETCH - 1)) + 1;
    const port = first + given;
    if (await isFreePort(port)) return port;
  }
  throw new Error("No free port below the ephemeral range");
}

/** @returns the first port of a stretch, on which this process listens: no other process gets the stretch */
async function holdStretch(): Promise<number> {
  for (let tries = 0; tries < STRETCHES; tries += 1) {
    const first = FIRST + ((process.pid + tries) % STRETCHES) * STRETCH;
    if (await listens(createServer().unref(), first)) return first;
  }
  throw new Error(`${STRETCHES} processes of tests hold all ports`);
}

export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer();
  const isFree = await listens(server, port);
  server.close();
  return isFree;
}

async function listens(server: ReturnType<typeof createServer>, port: number): Promise<boolean> {
  const isListening = once(server.listen(port, "127.0.0.1"), "listening");
  return isListening.then(
    () => true,
    () => false,
  );
}
