/**
 * An MCP client that is a web page: the stock SDK in a browser, with the code its author writes
 * around it. browser-client.ts bundles and serves it. `/` begins, the server sends the browser back
 * to `/callback`, and the page shows the outcome.
 */
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { BrowserOutcome } from "./browser-client.ts";

/** What the page uses of the browser; the rest of this workspace runs on Node. */
declare const location: {
  readonly origin: string;
  readonly pathname: string;
  readonly search: string;
  assign(url: string): void;
};
declare const document: { readonly body: { textContent: string; dataset: Record<string, string> } };
declare const sessionStorage: {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  clear(): void;
};

/** Survives the redirect to the server and back. */
interface Kept {
  readonly mcp: string;
  readonly era: string;
  readonly discovered: Parameters<NonNullable<OAuthClientProvider["saveDiscoveryState"]>>[0];
  readonly registered: Parameters<NonNullable<OAuthClientProvider["saveClientInformation"]>>[0];
  readonly tokens: Parameters<OAuthClientProvider["saveTokens"]>[0];
  readonly codeVerifier: string;
}

function kept<Key extends keyof Kept>(key: Key): Kept[Key] | undefined {
  const text = sessionStorage.getItem(key);
  return text === null ? undefined : (JSON.parse(text) as Kept[Key]);
}

function keep<Key extends keyof Kept>(key: Key, value: Kept[Key]): void {
  sessionStorage.setItem(key, JSON.stringify(value));
}

const isBack = location.pathname === "/callback";
const query = new URLSearchParams(location.search);
if (!isBack) {
  sessionStorage.clear();
  keep("mcp", query.get("mcp") ?? "");
  keep("era", query.get("era") ?? "");
}
const mcp = kept("mcp") ?? "";
const callback = `${location.origin}/callback`;
let hasLeft = false;

const authProvider: OAuthClientProvider = {
  redirectUrl: callback,
  clientMetadata: { client_name: "Client in a browser", redirect_uris: [callback] },
  discoveryState: () => kept("discovered"),
  saveDiscoveryState: (discovered) => keep("discovered", discovered),
  clientInformation: () => kept("registered"),
  saveClientInformation: (registered) => keep("registered", registered),
  tokens: () => kept("tokens"),
  saveTokens: (tokens) => keep("tokens", tokens),
  saveCodeVerifier: (codeVerifier) => keep("codeVerifier", codeVerifier),
  codeVerifier: () => kept("codeVerifier") ?? "",
  state: () => "state-of-the-page",
  redirectToAuthorization: (url) => {
    hasLeft = true;
    location.assign(url.href);
  },
};

async function connect(): Promise<BrowserOutcome> {
  const open = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider });
  if (isBack) await open().finishAuth(query);
  const negotiation = kept("era") === "modern" ? { versionNegotiation: { mode: "auto" as const } } : {};
  const client = new Client({ name: "browser", version: "1.0.0" }, negotiation);
  await client.connect(open());
  const { tools } = await client.listTools();
  const { content } = await client.callTool({ name: "whoami", arguments: {} });
  await client.close();
  const [first] = content as readonly { readonly text?: string }[];
  return { challenge: await challenge(), tools: tools.map(({ name }) => name), answer: first?.text ?? "" };
}

/** The part of a refusal that a page can read. */
async function challenge(): Promise<string | null> {
  const headers = { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" };
  const answer = await fetch(mcp, { method: "POST", headers, body: "{}" });
  return answer.headers.get("www-authenticate");
}

connect()
  .catch((error: unknown): BrowserOutcome => ({ error: String(error) }))
  .then((outcome) => {
    // The browser is leaving for the server's page: this page is finished.
    if (hasLeft) return;
    document.body.textContent = JSON.stringify(outcome);
    document.body.dataset["done"] = "true";
  })
  .catch(() => undefined);
