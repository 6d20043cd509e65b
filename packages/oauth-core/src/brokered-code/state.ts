/**
 * `state` as a handle: the flow's id and a secret whose hash is in the record. It needs no key. It
 * does not work with pushed requests, because a reload would issue another value.
 */
import { createHandle, parseHandle } from "../authorization-server/handle.ts";
import { isSameText } from "../protocol/mac.ts";
import type { FlowState } from "./policy.ts";
import type { FlowRecord } from "./record.ts";

/** `state` as a handle. */
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
