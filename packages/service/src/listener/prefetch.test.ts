import { expect, it } from "vitest";
import { isPrefetch } from "./prefetch.ts";

const asked = (headers: Record<string, string>): boolean => isPrefetch((name) => headers[name]);

it.each([
  { "sec-purpose": "prefetch" },
  { "sec-purpose": "prefetch;prerender" },
  { "sec-purpose": "prefetch;anonymous-client-ip" },
  { purpose: "prefetch" },
  { purpose: "Prefetch" },
  { "x-purpose": "preview" },
  { "x-moz": "prefetch" },
])("knows a browser's own idea by %o", (headers) => {
  expect(asked(headers)).toBe(true);
});

it.each([
  {},
  { "sec-purpose": "" },
  { purpose: "navigation" },
  { "x-moz": "notprefetched" },
  { "sec-fetch-dest": "document" },
])("takes a request with %o for the user's", (headers) => {
  expect(asked(headers)).toBe(false);
});
