/**
 * Declares in the table itself that builds which read plaintext are still running: every store in
 * mode `bridge` does so at start and while it runs. `token-store strip` removes what those builds
 * read, and refuses while the declaration is valid.
 */
import type { Clock, EpochSeconds, Timer } from "@oauth-broker/oauth-core";
import type { TokenRows } from "../storage/token-rows.ts";

const ROW = { pk: "TOKEN_STORE", sk: "OLDER_READERS" };
/** A declaration outlives two missed renewals. */
export const DECLARED_SECONDS = 1800;
const RENEW_SECONDS = 600;

interface Deps {
  readonly rows: TokenRows;
  readonly now: Clock;
}

/**
 * @returns `declared` resolves when the first declaration is written or has failed: a store that is
 *   down does not stop the process
 */
export function declareOlderReaders({ rows, now, timer }: Deps & { readonly timer: Timer }) {
  let stop = (): void => undefined;
  const declare = async (): Promise<void> => {
    const until = now() + DECLARED_SECONDS;
    stop = timer.after(RENEW_SECONDS * 1000, () => void declare(), { background: true });
    await rows.change(ROW, { set: { until, ttl: until } }, {}).catch(() => undefined);
  };
  return { declared: declare(), stop: (): void => stop() };
}

/** @returns until when, if a server has declared older readers and may still be running */
export async function olderReadersUntil({ rows, now }: Deps): Promise<EpochSeconds | undefined> {
  const until = (await rows.get(ROW))?.attributes["until"];
  return typeof until === "number" && until > now() ? until : undefined;
}
