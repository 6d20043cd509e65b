/** Records of pushed flows, as many as wanted, that no housekeeping deletes during a run. */
import { randomBytes } from "node:crypto";
import type { RecordStore } from "@oauth-broker/oauth-core";

/** As the broker stores a pushed flow (docs/storage-schema.md), in length. */
const DATA = {
  v: 3,
  client: "platform-0",
  vendor: "bench-0",
  requestHash: "c".repeat(43),
  redirectUri: "https://platform-0.example/oauth/vendor-callback",
  codeChallenge: "d".repeat(43),
  state: "s".repeat(43),
  scope: ["read", "write"],
};
/** Records with a short life do not wait for the disk one by one. */
const LIFE_SECONDS = 300;
const KEPT_SECONDS = 86_400;
const AT_ONCE = 512;

/** @param now of the store's clock */
export async function fill(store: Pick<RecordStore, "create">, count: number, now: number): Promise<void> {
  // In order of their keys, which spares a file most of its writes.
  const ids = Array.from({ length: count }, () => randomBytes(16).toString("base64url")).sort();
  for (let done = 0; done < count; done += AT_ONCE) {
    const batch = ids.slice(done, done + AT_ONCE).map((id) =>
      store.create({
        key: { kind: "flow", id },
        stage: "pushed",
        data: DATA,
        expiresAt: now + LIFE_SECONDS,
        keepUntil: now + KEPT_SECONDS,
      }),
    );
    await Promise.all(batch);
  }
}
