/**
 * The engine of dynamo-bench.ts in a process of its own, so that its work is not counted. Ends with
 * its parent.
 */
import { startDynamoDb } from "@oauth-broker/simulators/aws";

const { endpoint, region, createTable } = await startDynamoDb();
process.on("disconnect", () => process.exit(0));
process.send?.({ table: await createTable(), region, endpoint });
