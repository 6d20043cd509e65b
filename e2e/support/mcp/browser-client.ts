/** Serves the MCP client that is a web page (browser-client-page.ts) at its own origin. */
import { fileURLToPath } from "node:url";
import { startScriptedVendor } from "@oauth-broker/simulators";
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
  close(): Promise<void>;
}

export async function serveBrowserClient(): Promise<BrowserClient> {
  const page = '<!doctype html><script type="module" src="/page.js"></script>';
  const { url: origin, close } = await startScriptedVendor({
    "/page.js": { headers: { "content-type": "text/javascript" }, body: await bundlePage() },
    "*": { headers: { "content-type": "text/html" }, body: page },
  });
  return { origin, url: (mcp, era) => `${origin}/?${new URLSearchParams({ mcp, era }).toString()}`, close };
}

async function bundlePage(): Promise<string> {
  const input = fileURLToPath(new URL("browser-client-page.ts", import.meta.url));
  const { output } = await build({ input, platform: "browser", write: false, output: { codeSplitting: false } });
  return output[0].code;
}
