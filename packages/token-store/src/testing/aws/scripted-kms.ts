/**
 * A KMS that answers exactly what a test scripts, including responses the real one never gives:
 * data keys of another length, another key's name, half a response. The strict one of
 * simulators/aws serves everything else.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";

export interface ScriptedKms {
  readonly endpoint: string;
  /** What arrived, in order. */
  readonly requests: readonly { readonly operation: string; readonly input: Record<string, unknown> }[];
  close(): Promise<void>;
}

type Script = (operation: string, input: Record<string, unknown>) => { status?: number; body: unknown };

/** @param script what to answer; a string as it is, anything else as JSON */
export async function startScriptedKms(script: Script): Promise<ScriptedKms> {
  const requests: { operation: string; input: Record<string, unknown> }[] = [];
  const { url: endpoint, close } = await startScriptedVendor({
    "*": (request) => {
      const operation = String(request.headers["x-amz-target"]).replace("TrentService.", "");
      const input = JSON.parse(request.body) as Record<string, unknown>;
      requests.push({ operation, input });
      const { status = 200, body } = script(operation, input);
      const headers = { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": "request-1" };
      return { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
    },
  });
  return { endpoint, requests, close };
}
