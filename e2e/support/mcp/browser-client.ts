/** Serves the MCP client that is a web page (browser-client-page.ts) at its own origin. */
import { fileURLToPath } from "node:url";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { build } from "rolldown";
import type { Era } from "./client.ts";

/** What the page shows in the end. */
export type BrowserOutcome =
  | { readonly challenge: string | null; readonly tools: readonly string[]; readonly answer: string }
  | { readonly error: string };

export type BrowserClient = Awaited<ReturnType<typeof serveBrowserClient>>;
export async function serveBrowserClient() {
  const page = '<!doctype html><script type="module" src="/page.js"></script>';
  const { url: origin, close } = await startScriptedVendor({
    "/page.js": { headers: { "content-type": "text/javascript" }, body: await bundlePage() },
    "*": { headers: { "content-type": "text/html" }, body: page },
  });
  /** The URL that a user opens. */
  const urlOf = (mcp: string, era: Era): string => `${origin}/?${new URLSearchParams({ mcp, era }).toString()}`;
  return { origin, url: urlOf, close };
}

async function bundlePage(): Promise<string> {
  const input = fileURLToPath(new URL("browser-client-page.ts", import.meta.url));
  const { output } = await build({ input, platform: "browser", write: false, output: { codeSplitting: false } });
  return output[0].code;
}
