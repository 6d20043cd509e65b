/** docs/storage-schema.md against what links store: no field without a line, no line without a field. */
import { readFile } from "node:fs/promises";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { openLinkingFixture } from "../../testing/linking/fixture.ts";

const page = await readFile(new URL("../../../../../docs/storage-schema.md", import.meta.url), "utf8");
const KINDS = [
  "ticket",
  "ticket-index",
  "linking",
  "sign-in",
  "sign-in-end",
  "link-question",
  "link-question-of",
  "link-questions",
];

/** Names in the first column of a kind's section. */
function documented(kind: string): Set<string> {
  const section = page.split(`\n## \`${kind}\``)[1]?.split("\n## ")[0] ?? "";
  const firstCells = section.split("\n").map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? "");
  return new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)));
}

it("lists every field of the pages' records, none of which has a token or cookie", async () => {
  const seen = new Map<string, Set<string>>();
  const kept: string[] = [];
  const note = (kind: string, data: object): void => {
    seen.set(kind, new Set([...(seen.get(kind) ?? []), ...Object.keys(data)]));
    kept.push(JSON.stringify(data));
  };
  const watched = (store: RecordStore): RecordStore => ({
    ...store,
    create: (record) => {
      note(record.key.kind, record.data);
      return store.create(record);
    },
    advance: (key, from, patch) => {
      note(key.kind, patch.set);
      return store.advance(key, from, patch);
    },
  });
  await using fixture = await openLinkingFixture({ records: (now) => watched(memoryRecordStore({ now })) });
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
  for (const kind of KINDS) expect([kind, seen.get(kind)]).toEqual([kind, documented(kind)]);
  const secrets = [ticket.url.slice(-43), await fixture.linked("chat"), ...cookiesOf(second.jar.header(HERE))];
  for (const secret of secrets) expect(kept.join("")).not.toContain(secret);
  expect(kept.join("")).not.toContain("Sample");
});

const HERE = new URL("https://server.example");

function cookiesOf(header: string | undefined): string[] {
  return (header ?? "").split("; ").map((pair) => pair.split("=")[1] ?? "none");
}
