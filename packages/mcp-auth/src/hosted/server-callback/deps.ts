/** The shared dependencies of the legs with the server's own callback. */
import type { ServerCallback } from "../../settings.ts";
import type { HostedDeps } from "../deps.ts";
import type { FindServerClient } from "../clients/client.ts";

export interface ServerCallbackDeps extends HostedDeps {
  readonly callback: ServerCallback;
  readonly findClient: FindServerClient;
}
