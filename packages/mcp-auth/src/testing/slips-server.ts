/** A server whose author slips: promises that no code awaits, timers that throw. Started as a process. */
import { defineTool, runServer, type Tool, z } from "../index.ts";

const tool = (name: string, run: () => Promise<string>): Tool =>
  defineTool({ name, description: name, input: z.object({}), scopes: [], run });

await runServer({
  name: "slips",
  version: "1.0.0",
  configure: (server) => {
    server.registerPrompt("floating", { description: "f" }, async () => {
      void Promise.reject(new TypeError("message of the prompt"));
      return { messages: [] };
    });
  },
  tools: [
    tool("fine", async () => {
      console.log("printed by the tool");
      return "fine";
    }),
    tool("floating", async () => {
      void Promise.reject(new TypeError("message of the floating promise"));
      return "returned";
    }),
    tool("later", async () => {
      // Rejects after the call has been answered.
      setTimeout(() => void Promise.reject(new Error("message of the later promise")), 5);
      return "returned";
    }),
    tool("throwing", async () => {
      throw new TypeError("message of the tool");
    }),
    tool("timer", async () => {
      setTimeout(() => {
        throw new Error("message of the timer");
      }, 5);
      return "returned";
    }),
  ],
});

// A failure of this program, in no call.
process.on("SIGUSR2", () => void Promise.reject(new Error("outside")));
