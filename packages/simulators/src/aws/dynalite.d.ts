// dynalite ships no types. Only what dynamodb-engine.ts touches is declared here.
declare module "dynalite" {
  import type { Server } from "node:http";

  interface DynaliteOptions {
    /** Milliseconds a table stays in CREATING; dynalite's default is 500. */
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
  }

  /** Not yet listening. */
  function dynalite(options?: DynaliteOptions): Server;
  export = dynalite;
}
