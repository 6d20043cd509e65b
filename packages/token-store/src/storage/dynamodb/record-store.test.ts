import { describeRecordStore } from "@oauth-broker/oauth-core/testing";
import { dynamoEngine } from "../../testing/aws/dynamo-engine.ts";
import { dynamodbRecordStore } from "./record-store.ts";

const dynamo = dynamoEngine();

describeRecordStore("dynamodb", async (now) => {
  const store = dynamodbRecordStore({ ...(await dynamo.newTable()), now });
  return { store, dispose: () => store.close() };
});
