/** Every defence that is taken out in turn. A new one goes into the list of its area; mutate.test.ts checks what can be checked quickly. */
import { PROTOCOL_DEFENCES } from "./list/protocol.ts";
import type { Mutation } from "./mutation.ts";

export const MUTATIONS: readonly Mutation[] = [...PROTOCOL_DEFENCES];
