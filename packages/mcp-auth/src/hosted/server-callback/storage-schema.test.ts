/**
 * docs/storage-schema.md against what is really stored: no field without a line, no line without a
 * field.
 */
import { readFile } from "node:fs/promises";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import { openStubServerFixture } from "../../testing/server-fixture.ts";
import { openStubLinkingFixture } from "../../testing/linking/stub-linking.ts";

const page = await readFile(new URL("../../../../../docs/storage-schema.md", import.meta.url), "utf8");

/** Names in the first column of a kind's section. */
function documented(kind: string): Set<string> {
  const section = page.split(`\n## \`${kind}\``)[1]?.split("\n## ")[0] ?? "";
  const firstCells = section.split("\n").map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? "");
  return new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)));
}

it("lists every field of an authorization and of a registered client", async () => {
  const seen = new Map<string, Set<string>>();
  const note = (kind: string, data: object): void => {
    seen.set(kind, new Set([...(seen.get(kind) ?? []), ...Object.keys(data)]));
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
  await using fixture = await openStubServerFixture({
    records: (now) => watched(memoryRecordStore({ now })),
    callback: { registration: { hosts: [] } },
  });
  const redirect_uri = "https://app.example/back";
  const { body } = await fixture.register({ redirect_uris: [redirect_uri] });
  const client = { client_id: String(body["client_id"]), redirect_uri };
  expect((await fixture.connect(client)).status).toBe(200);
  const declined = fixture.browser();
  const state = (await declined.approve(client)).searchParams.get("state") ?? "";
  await declined.get(`/callback?${new URLSearchParams({ error: "access_denied", state }).toString()}`);
  const several = await openStubLinkingFixture({ records: (now) => watched(memoryRecordStore({ now })) });
  await several.browser().approve();
  await several.close();
  for (const kind of ["authorization", "client", "client-slots"]) expect(seen.get(kind)).toEqual(documented(kind));
});
