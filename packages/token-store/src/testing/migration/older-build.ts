/**
 * A build without encryption, as a process: reads and writes the plaintext attributes,
 * unconditionally. Started by migration.test.ts with its settings as JSON.
 */
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { type FleetSettings, olderItem, seeded, type Users, workUntilStopped, writeIn } from "./fleet.ts";

const STEPS_PER_SECOND = 25;
const BY = "older";

if (import.meta.main) {
  const { table, region, dynamoDb, seed, users: fleet } = JSON.parse(process.argv[2] ?? "") as FleetSettings;
  const client = new DynamoDBClient({ region, endpoint: dynamoDb });
  const random = seeded(seed);
  const last = new Map<number, number>();
  const problems: string[] = [];
  let [reads, writes] = [0, 0];
  const oneOf = ({ from, to }: Users): number => from + Math.floor(random() * (to - from));

  const write = async (index: number): Promise<void> => {
    const number = (last.get(index) ?? 0) + 1;
    const { pk, sk, ...attributes } = olderItem(index, { by: BY, write: number });
    const key = { pk: pk ?? { S: "" }, sk: sk ?? { S: "" } };
    if (random() < 0.5) await client.send(new PutItemCommand({ TableName: table, Item: { ...key, ...attributes } }));
    else {
      const names = Object.keys(attributes);
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: key,
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(", ")}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(
            names.map((name) => [`:${name}`, attributes[name] ?? { S: "" }]),
          ),
        }),
      );
    }
    last.set(index, number);
    writes += 1;
  };

  const read = async (users: Users): Promise<void> => {
    const index = oneOf(users);
    const { pk = { S: "" }, sk = { S: "" } } = olderItem(index, { by: BY, write: 0 });
    const { Item: item } = await client.send(
      new GetItemCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true }),
    );
    const found = writeIn(item?.["access_token"]?.S);
    reads += 1;
    if (found === undefined) problems.push(`an older build finds no token of user ${index}`);
    else if (users === fleet.older && last.has(index) && found.write !== last.get(index)) {
      problems.push(`user ${index}: write ${found.write} by ${found.by}, not ${last.get(index)}`);
    }
  };

  const all: Users = { from: 0, to: fleet.contended.to };
  await workUntilStopped(
    async () => {
      const choice = random();
      if (choice < 0.35) await write(oneOf(fleet.older));
      else if (choice < 0.4) await write(oneOf(fleet.contended));
      else if (choice < 0.7) await read(fleet.older);
      else await read(all);
    },
    () => ({ last: [...last], reads, writes, problems }),
    STEPS_PER_SECOND,
  );
}
