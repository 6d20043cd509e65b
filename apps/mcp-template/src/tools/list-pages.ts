/**
 * A list from the vendor's API, page after page: a sample of a tool that takes a while. It shows
 * how to take input, report progress, stop when the client cancels, and report an error. Replace it
 * by one that lists what your server is about.
 */
import { defineTool, ToolError, z } from "@oauth-broker/mcp-auth";

const MOST_PAGES = 10;

export const listPages = defineTool({
  name: "list_pages",
  title: "List, page by page",
  description:
    "Reads a JSON list of the vendor's HTTP API with GET and follows its Link headers to the next pages. Give the full https URL, as in the API's documentation",
  input: z.object({
    url: z.url().describe("URL of the first page; must be on a host of the vendor"),
    pages: z.int().min(1).max(MOST_PAGES).default(3).describe("How many pages to read at most"),
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: async ({ url, pages }, { vendor, signal, progress }) => {
    let items: unknown[] = [];
    let next: string | undefined = url;
    for (let page = 1; next !== undefined && page <= pages; page += 1) {
      signal.throwIfAborted();
      const answer = await vendor.fetch(next, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new ToolError(`${vendor.name} answered ${answer.status} to page ${page}`);
      items = items.concat(await listOf(answer, vendor.name));
      next = nextPage(answer.headers.get("link"), next);
      await progress(page, pages, `${items.length} items so far`);
    }
    return JSON.stringify({ items, hasMore: next !== undefined }, undefined, 2);
  },
});

async function listOf(answer: Response, name: string): Promise<unknown[]> {
  const body: unknown = await answer.json().catch(() => undefined);
  if (Array.isArray(body)) return body;
  throw new ToolError(`${name} did not answer with a JSON list. Give the URL of a list`);
}

/** RFC 8288: `<https://api.example.com/things?page=2>; rel="next"` */
function nextPage(link: string | null, current: string): string | undefined {
  for (const [, target = "", parameters = ""] of (link ?? "").matchAll(/<([^>]*)>([^,]*)/g)) {
    if (/;\s*rel="?next"?(\s|;|$)/.test(parameters)) return URL.parse(target, current)?.href;
  }
  return undefined;
}
