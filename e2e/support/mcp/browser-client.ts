/** Serves the MCP client that is a web page (browser-client-page.ts) at its own origin. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import type { Era } from "./client.ts";

/** What the page shows in the end. */
export type BrowserOutcome =
  | { readonly challenge: string | null; readonly tools: readonly string[]; readonly answer: string }
  | { readonly error: string };

export interface BrowserClient {
  readonly origin: string;
  /** The URL that a user opens. */
  url(mcp: string, era: Era): string;
  close(): void;
}

export async function serveBrowserClient(): Promise<BrowserClient> {
  const script = await bundlePage();
  const server = createServer(({ url }, response) => {
    if (url === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else
      response
        .setHeader("content-type", "text/html")
        .end('<!doctype html><script type="module" src="/page.js"></script>');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: (mcp, era) => `${origin}/?${new URLSearchParams({ mcp, era }).toString()}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bundlePage(): Promise<string> {
  const input = fileURLToPath(new URL("browser-client-page.ts", import.meta.url));
  const { output } = await build({ input, platform: "browser", write: false, output: { codeSplitting: false } });
  return output[0].code;
}
