/**
 * docs/storage-schema.md against the rows there are: no attribute without a line, no line without
 * an attribute.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { createDataKeys } from "../keys/data-keys.ts";
import { localKeyWrapper } from "../keys/local.ts";
import { createLinks } from "../links.ts";
import { bridge } from "../modes/bridge.ts";
import { createTokenRecords } from "./row-records.ts";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";
import { rowKeyOf } from "./token-attributes.ts";

const NOW = 1_700_000_000;
const page = readFileSync(new URL("../../../../docs/storage-schema.md", import.meta.url), "utf8");

it("lists every attribute a token row ever has", async () => {
  const folder = temporaryFolder();
  const rows = memoryTokenRows();
  const keys = localKeyWrapper({ path: join(folder, "key") });
  const now = fixedClock(NOW);
  const dataKeys = createDataKeys({ keys, context: { purpose: "test" }, now, timer: systemTimer });
  const records = createTokenRecords({ rows, dataKeys, mode: bridge, environment: "test", now });
  const key = { user: "u1", vendor: "v", issuer: "https://issuer.example" };
  const tokens = {
    accessToken: new Secret("a"),
    refreshToken: new Secret("r"),
    idToken: new Secret("i"),
    tokenType: "Bearer",
    scope: "s",
    expiresAt: NOW + 60,
  };
  const seen = new Set(["pk", "sk", "ttl"]);
  const look = async (): Promise<void> => {
    for (const name of Object.keys((await rows.get(rowKeyOf(key)))?.attributes ?? {})) seen.add(name);
  };
  await records.replace(key, tokens);
  const held = (await records.note((await records.read(key))!, {
    lease: { owner: "o", until: NOW + 30, attemptId: "t" },
  }))!;
  await look();
  await records.commit(await records.seal(held, tokens, { refreshToken: new Secret("r0"), until: NOW + 60 }));
  await look();
  const linked = { ...key, signIn: { vendor: "s", issuer: "https://sign-in.example" } };
  const link = { linkedAt: NOW, notGranted: [], lacked: {} };
  await rows.delete(rowKeyOf(key), {});
  const keyless = createTokenRecords({ rows, dataKeys: undefined, mode: bridge, environment: "test", now });
  await keyless.replaceLink(linked, { ...tokens, link }, 0);
  await look();
  await createLinks({ records: keyless, rows, now }).endLink(linked);
  await look();

  const section = page.split("\n## Token rows")[1] ?? "";
  const firstCells = section.split("\n").map((line) => /^\| (`[^|]*)\|/.exec(line)?.[1] ?? "");
  const listed = firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(new Set(listed)).toEqual(seen);
});
