/** `state` as a handle: the flow's id and a secret, of which the record has the hash. No key is needed, and no pushed request works with it. */
import { createHandle, parseHandle } from "../authorization-server/handle.ts";
import { isSameText } from "../protocol/mac.ts";
import type { FlowState } from "./policy.ts";
import type { FlowRecord } from "./record.ts";

/** `state` as a handle: the record holds its SHA-256, and no key is needed. */
export const HANDLE_STATE: FlowState<FlowRecord> = {
  issue: (flowId) => {
    const { value, hash } = createHandle(flowId);
    return { value, kept: { stateHash: hash } };
  },
  read: async (value) => {
    const state = parseHandle(value);
    if (state === undefined) return undefined;
    return { flowId: state.flowId, isOf: ({ stateHash }) => isSameText(stateHash, state.hash) };
  },
};
