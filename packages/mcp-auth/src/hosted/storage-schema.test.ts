/**
 * docs/storage-schema.md against what is really stored: no field without a line, no line without a
 * field.
 */
import { readFile } from "node:fs/promises";
import type { Clock, RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { beforeEach, expect, it } from "vitest";
import { openLinkingFixture } from "../testing/linking/fixture.ts";
import { openStubLinkingFixture } from "../testing/linking/stub-linking.ts";
import { watchWrites } from "../testing/record-stores.ts";
import { openStubServerFixture } from "../testing/server-fixture.ts";

const page = await readFile(new URL("../../../../docs/storage-schema.md", import.meta.url), "utf8");
const HERE = new URL("https://server.example");

/** Names in the first column of a kind's section. */
function documented(kind: string): Set<string> {
  const section = page.split(`\n## \`${kind}\``)[1]?.split("\n## ")[0] ?? "";
  const firstCells = section.split("\n").map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? "");
  return new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)));
}

/** Fields by kind, and all that was written. */
const seen = new Map<string, Set<string>>();
const kept: string[] = [];
beforeEach(() => {
  seen.clear();
  kept.length = 0;
});
const records = (now: Clock): RecordStore =>
  watchWrites(memoryRecordStore({ now }), ({ kind }, data) => {
    seen.set(kind, new Set([...(seen.get(kind) ?? []), ...Object.keys(data)]));
    kept.push(JSON.stringify(data));
  });

function expectDocumented(...kinds: readonly string[]): void {
  for (const kind of kinds) expect([kind, seen.get(kind)]).toEqual([kind, documented(kind)]);
}

it("lists every field of an authorization and of a registered client", async () => {
  await using fixture = await openStubServerFixture({ records, callback: { registration: { hosts: [] } } });
  const redirect_uri = "https://app.example/back";
  const { body } = await fixture.register({ redirect_uris: [redirect_uri] });
  const client = { client_id: String(body["client_id"]), redirect_uri };
  expect((await fixture.connect(client)).status).toBe(200);
  const declined = fixture.browser();
  const state = (await declined.approve(client)).searchParams.get("state") ?? "";
  await declined.get(`/callback?${new URLSearchParams({ error: "access_denied", state }).toString()}`);
  await using several = await openStubLinkingFixture({ records });
  await several.browser().approve();
  expectDocumented("authorization", "client", "client-slots");
});

it("lists every field of the pages' records, none of which has a token or cookie", async () => {
  await using fixture = await openLinkingFixture({ records });
  const call = await fixture.call();
  const visitor = fixture.visitor();
  const first = await visitor.link(await call.ask());
  const second = fixture.visitor();
  const ticket = await call.ask();
  await second.link(ticket, { account: "operator" });
  const refused = await visitor.atVendor(await visitor.send(first, "reconnect", "chat"));
  await visitor.get(`${refused.pathname}${refused.search.replace("iss=", "x=")}`);
  const foreign = await (await fixture.call("operator")).ask();
  const again = fixture.visitor();
  await again.send(await again.open(new URL(foreign.url).pathname), "sign_out");
  await fixture.deps.signIns.endAll("user");
  expectDocumented("ticket", "ticket-index", "linking", "sign-in", "sign-in-end");
  expectDocumented("link-question", "link-question-of", "link-questions");
  const cookies = (second.jar.header(HERE) ?? "").split("; ").map((pair) => pair.split("=")[1] ?? "none");
  for (const secret of [ticket.url.slice(-43), await fixture.linked("chat"), ...cookies]) {
    expect(kept.join("")).not.toContain(secret);
  }
  expect(kept.join("")).not.toContain("Sample");
});
