/** Counts of one call of /mcp by a tool that takes the vendor's token, beside the server without auth. */
import { openConnection } from "../../connection.ts";
import { callTool, connect, connectAtVendor, userName } from "../../mcp-client.ts";
import { MCP_SUBJECTS, startMcpHarness } from "../mcp/harness.ts";
import {
  countOperation,
  COUNTER,
  type CountTable,
  createServerCounts,
  type OperationCounts,
} from "./operation-counts.ts";

/** @throws Error when an answer is wrong */
export async function countMcp(): Promise<CountTable> {
  const { onLine, read } = createServerCounts();
  const { servers, vendorUrl, stop } = await startMcpHarness({ preload: COUNTER, onLine });
  try {
    const calls: Record<string, OperationCounts> = {};
    for (const subject of MCP_SUBJECTS) {
      const server = servers[subject];
      const connection = openConnection(server.url);
      const user = userName(0);
      const session = subject === "preRegistered" ? connectAtVendor(vendorUrl, user) : connect(connection, user);
      const { accessToken } = await session;
      const call = (): Promise<string> => callTool(connection, accessToken, "token");
      calls[subject] = await countOperation(() => read(subject, server), call);
      await connection.close();
    }
    return { "/mcp": calls };
  } finally {
    await stop();
  }
}
