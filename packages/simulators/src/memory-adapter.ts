/**
 * The storage of the sandbox's OpenID provider for codes, tokens and sessions: a map that is lost
 * with the process. oidc-provider has its own, but it warns on stderr, and drops entries
 * after the thousandth. Expiry is not checked here: the provider checks `exp` of every record.
 */

/** The oldest entries are dropped beyond this many; a benchmark of some thousand flows fits. */
const CAPACITY = 50_000;

interface Payload {
  readonly grantId?: string;
  readonly uid?: string;
  consumed?: number;
}

/** The table of one kind of record ("Session", "AccessToken", …). */
export function createTable() {
  const rows = new Map<string, Payload>();
  const idsByUid = new Map<string, string>();

  function remove(id: string): void {
    const uid = rows.get(id)?.uid;
    rows.delete(id);
    if (uid !== undefined && idsByUid.get(uid) === id) idsByUid.delete(uid);
  }

  return {
    async upsert(id: string, payload: Payload): Promise<void> {
      remove(id);
      rows.set(id, payload);
      if (payload.uid !== undefined) idsByUid.set(payload.uid, id);
      const oldest = rows.size > CAPACITY ? rows.keys().next().value : undefined;
      if (oldest !== undefined) remove(oldest);
    },
    async find(id: string): Promise<Payload | undefined> {
      return rows.get(id);
    },
    async findByUid(uid: string): Promise<Payload | undefined> {
      return rows.get(idsByUid.get(uid) ?? "");
    },
    async consume(id: string): Promise<void> {
      const payload = rows.get(id);
      // The value only has to be truthy; the provider never compares it.
      if (payload !== undefined) payload.consumed = 1;
    },
    async destroy(id: string): Promise<void> {
      remove(id);
    },
    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [id, row] of rows) if (row.grantId === grantId) remove(id);
    },
  };
}
