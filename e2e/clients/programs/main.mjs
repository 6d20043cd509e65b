/**
 * One client as a program: main.mjs NAME URL FOLDER. It connects, prints a JSON line with its tools and
 * what `whoami` answered, and calls again for each line it reads, after an hour if that is `later`. It ends with its
 * input.
 */
import { createInterface } from "node:readline";
import { hourLater } from "./clock.mjs";
import { CONNECTIONS } from "./connections.mjs";

const [name, mcp, folder] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    return { failed: `${error?.name ?? "Error"}: ${error?.message ?? error}`.slice(0, 500) };
  }
}

let client;
say(
  await attempt(async () => {
    client = await CONNECTIONS[name](mcp, folder);
    return { tools: await client.tools(), ...(await client.call("whoami")) };
  }),
);
if (client !== undefined) {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "later") hourLater();
    say(await attempt(() => client.call("whoami")));
  }
}
process.exit(0);
