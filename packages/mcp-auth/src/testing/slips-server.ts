/** A server whose author slips: promises that no code awaits, timers that throw. Started as a process. */
import { defineTool, runServer, z } from "../index.ts";

const input = z.object({});
const scopes: readonly string[] = [];

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
    defineTool({
      name: "fine",
      description: "f",
      input,
      scopes,
      run: async () => {
        console.log("printed by the tool");
        return "fine";
      },
    }),
    defineTool({
      name: "floating",
      description: "f",
      input,
      scopes,
      run: async () => {
        void Promise.reject(new TypeError("message of the floating promise"));
        return "returned";
      },
    }),
    defineTool({
      name: "later",
      description: "l",
      input,
      scopes,
      run: async () => {
        // Rejects after the call has been answered.
        setTimeout(() => void Promise.reject(new Error("message of the later promise")), 5);
        return "returned";
      },
    }),
    defineTool({
      name: "throwing",
      description: "t",
      input,
      scopes,
      run: async () => {
        throw new TypeError("message of the tool");
      },
    }),
    defineTool({
      name: "timer",
      description: "t",
      input,
      scopes,
      run: async () => {
        setTimeout(() => {
          throw new Error("message of the timer");
        }, 5);
        return "returned";
      },
    }),
  ],
});

// A failure of this program, in no call.
process.on("SIGUSR2", () => void Promise.reject(new Error("outside")));
