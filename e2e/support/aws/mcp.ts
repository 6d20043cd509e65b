/** Direct access to the table of an MCP server. */
import { callAwsJson } from "../../../packages/simulators/src/aws/aws-json.ts";
import type { AwsHarness } from "./aws.ts";

type Item = Readonly<Record<string, { readonly S?: string }>>;

/** Bypasses the proxy, as an attacker with write access or a broken migration would. */
export function openTable({
  engine: { endpoint, region },
  table,
}: {
  readonly engine: Pick<AwsHarness["engine"], "endpoint" | "region">;
  readonly table: string;
}) {
  const call = (operation: string, input: object) =>
    callAwsJson({ endpoint, region, service: "dynamodb", operation, input: { TableName: table, ...input } });
  return {
    /** The item of a user's tokens, at any vendor. */
    tokensOf: async (user: string): Promise<Item> => {
      const { Items: items } = (await call("Scan", { ConsistentRead: true })) as { readonly Items: readonly Item[] };
      const found = items.find(({ pk, sk }) => pk?.S === `USER#${user}` && sk?.S?.startsWith("VENDOR#") === true);
      if (found === undefined) throw new Error("the user has no tokens in the table");
      return found;
    },
    /** In the place of the item of that key. */
    put: async (item: object) => call("PutItem", { Item: item }),
  };
}
