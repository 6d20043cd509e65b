// An agent on the AI SDK that acts for its user at GitHub and Slack. The user connects each account in the
// browser; the model asks for tools, and never sees a token. README.md says how to start it.
import { createServer } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createBrokerClient, type Session, type Tokens } from "@oauth-broker/broker-client";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";

const { env } = process;
const needed = ["BROKER_URL", "BROKER_CLIENT_ID", "BROKER_CLIENT_SECRET", "MODEL_URL", "MODEL"];
const missing = needed.filter((name) => !env[name]);
if (missing.length > 0) throw new Error(`Set ${missing.join(", ")}: README.md says where they come from`);
const { BROKER_URL: issuer = "", BROKER_CLIENT_ID: clientId = "", BROKER_CLIENT_SECRET: clientSecret = "" } = env;
const { PORT = "3000", GITHUB_API_URL = "https://api.github.com", SLACK_API_URL = "https://slack.com" } = env;
const home = `http://127.0.0.1:${PORT}`;
const broker = createBrokerClient({ issuer, clientId, clientSecret, redirectUri: `${home}/oauth/callback` });
const question = process.argv[2] ?? "Who am I at GitHub? Tell the channel C1 in Slack.";

/** One user, on this machine. A service keeps tokens for each of its users, in a store that encrypts. */
const tokensOf = new Map<string, Tokens>();
const SCOPES = { github: "read:user", slack: "chat:write" } as const;
type Vendor = keyof typeof SCOPES;

/** @returns when the user has connected this vendor in the browser */
async function connect(vendor: Vendor): Promise<void> {
  const { url, session } = await broker.start({ vendor, scope: SCOPES[vendor] });
  const callback = await waitForCallback(session, () => console.log(`Connect ${vendor}: ${url}`));
  tokensOf.set(vendor, await broker.finish(callback, session));
}

/** Only the callback of this flow counts; any other request is not found. */
async function waitForCallback({ state }: Session, onListening: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", home);
      if (url.pathname !== "/oauth/callback" || url.searchParams.get("state") !== state) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { connection: "close" }).end("Go back to the terminal.");
      server.close();
      resolve(url.href);
    });
    server.on("error", reject).listen(Number(PORT), "127.0.0.1", onListening);
  });
}

/** Calls a vendor with the user's token, which stays here: the model gets the answer only. */
async function call(vendor: Vendor, url: string, body?: URLSearchParams): Promise<unknown> {
  const send = async (): Promise<Response> =>
    fetch(url, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers: { authorization: `Bearer ${tokensOf.get(vendor)?.accessToken}` },
      redirect: "error",
      signal: AbortSignal.timeout(10_000),
    });
  const answer = await send();
  if (answer.status !== 401) return answer.json();
  // The token has ended: the broker gets another, or the user connects again.
  const { refreshToken, connection = "" } = tokensOf.get(vendor) ?? {};
  const refreshed = await broker.refresh({ refreshToken, connection });
  if (refreshed.outcome === "ok") tokensOf.set(vendor, refreshed.tokens);
  else if (refreshed.outcome === "reauthorize") await connect(vendor);
  else throw refreshed.error;
  return (await send()).json();
}

const tools = {
  readGitHubAccount: tool({
    description: "The GitHub account of the user",
    inputSchema: z.object({}),
    execute: async () => z.object({ login: z.string() }).parse(await call("github", `${GITHUB_API_URL}/user`)),
  }),
  postToSlack: tool({
    description: "Posts a message to a Slack channel as the user's app",
    inputSchema: z.object({ channel: z.string(), text: z.string().max(2000) }),
    execute: async (message) =>
      z
        .object({ ok: z.boolean(), error: z.string().optional() })
        .parse(await call("slack", `${SLACK_API_URL}/api/chat.postMessage`, new URLSearchParams(message))),
  }),
};

await connect("github");
await connect("slack");
const { MODEL_URL: baseURL = "", MODEL_KEY: apiKey = "", MODEL = "" } = env;
const model = createOpenAICompatible({ name: "model", baseURL, apiKey })(MODEL);
const { text } = await generateText({ model, tools, stopWhen: isStepCount(6), prompt: question });
console.log(text);
// What is not needed any more is given back.
for (const { accessToken, connection } of tokensOf.values()) await broker.revoke({ token: accessToken, connection });
