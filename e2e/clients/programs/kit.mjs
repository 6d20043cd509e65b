/**
 * What the author of a client writes around an SDK: a file for what is kept, a callback on loopback, a
 * browser. Used by libraries.mjs and connections.mjs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** Longer than a user needs who is a program. */
const USER_MS = 20_000;

export function openBrowser(url) {
  spawn("xdg-open", [String(url)], { stdio: "ignore" });
}

/** The OAuthClientProvider of the SDK's documentation, with a file as its store. */
export async function createProvider(folder, { name }) {
  const file = join(folder, "kept.json");
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const keep = (member) => (value) => {
    kept[member] = value;
    writeFileSync(file, JSON.stringify(kept));
  };
  let arrive;
  let state;
  const server = createServer((request, response) => {
    const url = new URL(request.url, redirectUrl);
    response.writeHead(200, { connection: "close" }).end("Go back to the terminal.");
    if (url.pathname === "/callback") arrive?.(url.searchParams);
  });
  // As a desktop program does: the port of the first start again, because it registered it.
  server.listen(kept.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  if (kept.port === undefined) keep("port")(port);
  const redirectUrl = `http://127.0.0.1:${port}/callback`;
  let arrived;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => kept.client,
    saveClientInformation: keep("client"),
    tokens: () => kept.tokens,
    saveTokens: keep("tokens"),
    discoveryState: () => kept.discovered,
    saveDiscoveryState: keep("discovered"),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: keep("verifier"),
    state: () => (state ??= crypto.randomUUID()),
    storedState: () => state,
    saveState: (given) => void (state = given),
    invalidateCredentials: (which) => {
      const members = { all: ["client", "tokens", "verifier", "discovered"], discovery: ["discovered"] };
      for (const member of members[which] ?? [which]) keep(member)(undefined);
    },
    redirectToAuthorization: (url) => {
      arrived = new Promise((resolve, reject) => {
        arrive = resolve;
        setTimeout(() => reject(new Error("the user did not come back from the browser")), USER_MS).unref();
      });
      arrived.catch(() => undefined);
      openBrowser(url);
    },
    /** @returns the parameters that the browser brought, once the user was sent there */
    callback: () => arrived,
    wasSent: () => arrived !== undefined,
  };
}

/**
 * Connects, and again after the user came back, as the SDK's documentation has it.
 *
 * @param attempt connects; throws when the user was sent to the browser
 * @param finish redeems: gets the parameters of the callback
 */
export async function connectOrSignIn(provider, attempt, finish) {
  try {
    return await attempt();
  } catch (error) {
    if (!provider.wasSent()) throw error;
    await finish(await provider.callback());
    return attempt();
  }
}

/** What a program asks of a connected client of the SDK, of either generation. */
export function ofSdk(client) {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name) => answerOf(await client.callTool({ name, arguments: {} })),
  };
}

export function answerOf(answer) {
  return { text: textOf(answer), isError: answer?.isError === true };
}

/** The text of a tool's answer, in whatever shape a library hands it out. */
function textOf(answer) {
  if (typeof answer === "string") return answer;
  if (Array.isArray(answer)) return answer.map(textOf).join("\n");
  return textOf(answer?.content ?? answer?.text ?? answer?.result ?? JSON.stringify(answer));
}
