/**
 * An MCP client that is a web page: the stock SDK in a browser, with the code its author writes
 * around it. browser-client.test.ts bundles and serves it. `/` begins, the server sends the browser back
 * to `/callback`, and the page shows the outcome.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Kept, oauthProvider } from "./oauth-provider.ts";

/** What the page shows in the end. */
export type BrowserOutcome =
  | { readonly challenge: string | null; readonly tools: readonly string[]; readonly answer: string }
  | { readonly error: string };

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
};

const isBack = location.pathname === "/callback";
const query = new URLSearchParams(location.search);
/** Survives the redirect to the server and back. */
const kept = (isBack ? JSON.parse(sessionStorage.getItem("kept") ?? "{}") : Object.fromEntries(query)) as Kept & {
  readonly mcp: string;
  readonly era: string;
};
const { mcp, era } = kept;
let hasLeft = false;

const authProvider = oauthProvider(kept, `${location.origin}/callback`, {
  name: "Client in a browser",
  redirectToAuthorization: (url) => {
    hasLeft = true;
    sessionStorage.setItem("kept", JSON.stringify(kept));
    location.assign(url.href);
  },
});

async function connect(): Promise<BrowserOutcome> {
  const open = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider });
  if (isBack) await open().finishAuth(query);
  const negotiation = era === "modern" ? { versionNegotiation: { mode: "auto" as const } } : {};
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
