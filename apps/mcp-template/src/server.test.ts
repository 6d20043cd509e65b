/** The tools, called as the server calls them, with a vendor whose answers the test sets. */
import { type CallContext, type NamedVendors, SIGN_IN_VENDOR, type VendorApi } from "@oauth-broker/mcp-auth";
import { describe, expect, it } from "vitest";
import { tools } from "./tools/index.ts";
import { listPages } from "./tools/list-pages.ts";
import { whoami } from "./tools/whoami.ts";

/** @param pages the answers of the vendor's API, by URL */
function contextWith(
  pages: Readonly<Record<string, () => Response>> = {},
): CallContext & NamedVendors<typeof SIGN_IN_VENDOR> & { readonly reported: string[] } {
  const reported: string[] = [];
  const vendor: VendorApi = {
    id: "example",
    name: "Example",
    account: async () => ({ id: 1, login: "ada" }),
    accessToken: async () => "token",
    fetch: async (url) => pages[String(url)]?.() ?? new Response(null, { status: 404 }),
  };
  return {
    reported,
    user: "1",
    signal: new AbortController().signal,
    progress: async (done, total, message) => void reported.push(`${done}/${total}: ${message}`),
    vendor,
    vendors: { [SIGN_IN_VENDOR]: vendor },
  };
}

const page = (items: readonly unknown[], next?: string) => (): Response =>
  Response.json(items, { headers: next === undefined ? {} : { link: `<${next}>; rel="next"` } });

it("the server has tools of different names", () => {
  const names = tools.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(new Set(names).size).toBe(names.length);
});

it("whoami is the vendor's account of the user", async () => {
  expect(await whoami.run({}, contextWith())).toEqual({ id: 1, login: "ada" });
});

describe("list_pages", () => {
  const url = "https://api.example.com/things";

  it("follows the pages up to the given number, and reports progress", async () => {
    const context = contextWith({
      [url]: page([1, 2], "/things?page=2"),
      [`${url}?page=2`]: page([3], `${url}?page=3`),
    });
    const answer = await listPages.run({ url, pages: 2 }, context);
    expect(JSON.parse(answer as string)).toEqual({ items: [1, 2, 3], hasMore: true });
    expect(context.reported).toEqual(["1/2: 2 items so far", "2/2: 3 items so far"]);
  });

  it.each(["<http://[>; rel=next", "<>", "next", `${"<".repeat(8_000)}; rel="next"`, '<a>; rel="prev next-but-one"'])(
    "ends where the header names no next page: %s",
    async (link) => {
      const context = contextWith({ [url]: () => Response.json([1], { headers: { link } }) });
      const answer = await listPages.run({ url, pages: 2 }, context);
      expect(JSON.parse(answer as string)).toEqual({ items: [1], hasMore: false });
    },
  );

  it("explains an answer that is not a list", async () => {
    const context = contextWith({ [url]: () => Response.json({ message: "hello" }) });
    await expect(listPages.run({ url, pages: 1 }, context)).rejects.toThrow("Give the URL of a list");
    await expect(listPages.run({ url: `${url}/none`, pages: 1 }, context)).rejects.toThrow("answered 404 to page 1");
  });
});
