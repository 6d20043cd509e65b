/** The list of GitHub's API that comes in pages, as tools read it. */
import { beforeEach, expect, it } from "vitest";
import { startHarness } from "./testing/github-harness.ts";
import { bearer, request } from "./testing/http.ts";

let harness: Awaited<ReturnType<typeof startHarness>>;
let authorized: Record<string, string>;
beforeEach(async () => {
  harness = await startHarness();
  authorized = bearer(String((await harness.connect())["access_token"]));
});

const list = (query = "", headers = authorized) => request(`${harness.vendor.url}/user/repos${query}`, { headers });
const namesOf = (text: string) => (JSON.parse(text) as { readonly full_name: string }[]).map((one) => one.full_name);

it("lists a person's repositories on one page, without links", async () => {
  const { status, headers, text } = await list();
  expect([status, namesOf(text).length, headers.has("link")]).toEqual([200, 5, false]);
});

it("cuts the list into pages that link to each other", async () => {
  const { url } = harness.vendor;
  const second = await list("?per_page=2&page=2");
  expect(namesOf(second.text)).toEqual(["sample-user/repository-3", "sample-user/repository-4"]);
  const link = (rel: string, page: number) => `<${url}/user/repos?per_page=2&page=${page}>; rel="${rel}"`;
  expect(second.headers.get("link")).toBe(
    [link("prev", 1), link("next", 3), link("last", 3), link("first", 1)].join(", "),
  );
  const third = await list("?per_page=2&page=3");
  expect([namesOf(third.text).length, third.headers.get("link")?.includes("next")]).toEqual([1, false]);
});

it("takes nonsense for the default, and has nothing behind the last page", async () => {
  expect(namesOf((await list("?per_page=x&page=-1")).text)).toHaveLength(5);
  expect(namesOf((await list("?page=99")).text)).toEqual([]);
});

it("refuses a token it does not know", async () => {
  expect((await list("", bearer("gho_nobody"))).status).toBe(401);
  harness.vendor.refuseNext("api", "403");
  expect((await list()).status).toBe(403);
});
