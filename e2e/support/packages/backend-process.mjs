// A platform's backend, in plain JavaScript, on the Node that starts it. Reads one JSON command per
// line and answers one per line. broker-client-node-20.test.ts starts it with only the built
// package and the client's options.
import { createInterface } from "node:readline";

const [entry, options] = process.argv.slice(2);
const { createBrokerClient } = await import(entry);
const client = createBrokerClient(JSON.parse(options));

for await (const line of createInterface({ input: process.stdin })) {
  const { call, args } = JSON.parse(line);
  const answer = await client[call](...args).then(
    (value) => ({ value }),
    ({ name, code, details, message }) => ({ error: { name, code, details, message } }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
