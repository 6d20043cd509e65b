/** Every defence that is taken out in turn. A new one goes into the list of its area; list.test.ts checks what can be checked quickly. */
import { CLIENT_DEFENCES } from "./list/clients.ts";
import { EGRESS_DEFENCES } from "./list/egress.ts";
import { PROTOCOL_DEFENCES } from "./list/protocol.ts";
import { VENDOR_CLIENT_DEFENCES } from "./list/vendor-client.ts";
import type { Mutation } from "./mutation.ts";

export const MUTATIONS: readonly Mutation[] = [
  ...PROTOCOL_DEFENCES,
  ...VENDOR_CLIENT_DEFENCES,
  ...EGRESS_DEFENCES,
  ...CLIENT_DEFENCES,
];
