/** The broker's flows without the check of the path: an answer counts for its flow on any path. */
import type { createFlows as CreateFlows } from "@oauth-broker/broker/src/flows/policy.ts";

/** @param isOff whether the check is off at the moment */
export function onAnyPath(createFlows: typeof CreateFlows, isOff: () => boolean): typeof CreateFlows {
  return (deps) => {
    const flows = createFlows(deps);
    const callback: typeof flows.callback = async (request, trace) => {
      if (!isOff()) return flows.callback(request, trace);
      const { jti } = await deps.state.verify(request.parameters.require("state"));
      const record = await deps.records.get({ kind: "flow", id: jti });
      const path = record?.data["path"];
      return flows.callback({ ...request, path: typeof path === "string" ? path : request.path }, trace);
    };
    return { ...flows, callback };
  };
}
