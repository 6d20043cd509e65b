/**
 * dynalite behind our own server. dynalite's own server crashes the process when a connection or
 * the store is closed in the middle of a request, and tests do both on purpose.
 */
// The declarations travel with the import, so that another workspace that imports this package sees
// them too.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./dynalite.d.ts" />
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import dynalite from "dynalite";
import { listen, type Listening } from "../listen.ts";

/** In this process, in memory, on a free port of loopback. */
export async function startDynalite(): Promise<Listening> {
  const engine = dynalite({ createTableMs: 0, deleteTableMs: 0 });
  const [handle] = engine.listeners("request") as RequestListener[];
  if (handle === undefined) throw new Error("dynalite answers no requests");
  const listening = await listen(0);
  listening.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response);
    // dynalite throws errors of the connection here, outside any promise.
    request.removeAllListeners("error");
    request.on("error", () => undefined);
  });
  return listening;
}
