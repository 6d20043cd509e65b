/**
 * A KMS that answers exactly what a test scripts, including responses the real one never gives:
 * data keys of another length, another key's name, half a response. The strict one of
 * simulators/aws serves everything else.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

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
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const operation = String(request.headers["x-amz-target"]).replace("TrentService.", "");
      const input = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      requests.push({ operation, input });
      const { status = 200, body } = script(operation, input);
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": "request-1" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
