/** The platform's storage in its own folder, for tests. */
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { openStorage, type Storage } from "../storage.ts";

export const NOW = 1_700_000_000;
/** Settings of a client that was entered; a test that needs its secret adds it. */
export const CLIENT = {
  authentication: "oauth_2_1",
  registration: "pre_registered_client",
  clientId: "client-1",
  authorizationUrl: "https://id.example.com/authorize",
  tokenUrl: "https://id.example.com/token",
} as const;

/** As an attacker who can write to the database: a sealed secret is to open for another endpoint. */
export async function moveSecret({ records }: Pick<Storage, "records">): Promise<void> {
  const key = { kind: "connector", id: "notes" };
  const { data } = (await records.get(key))!;
  const settings = { ...(data["settings"] as object), tokenUrl: "https://evil.example.com/token" };
  const from = { stage: "draft", expect: { revision: data["revision"] as string } };
  await records.advance(key, from, { stage: "draft", set: { settings, revision: "moved" } });
}

export type TestStorage = Awaited<ReturnType<typeof openTestStorage>>;

export async function openTestStorage() {
  const folder = temporaryFolder();
  const open = (): Promise<Storage> => openStorage(folder, fixedClock(NOW), { allowCidrs: [] });
  /** `reopen`: the same folder, opened again as another process would. */
  return { ...(await open()), folder, reopen: open };
}
