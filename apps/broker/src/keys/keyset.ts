/**
 * The broker's own keys: one 32-byte root per generation, and a separate key derived from it per
 * purpose (bar#CB-5). The newest generation that every process has had time to read is active; all
 * generations stay available for opening. keyset-storage.ts stores them; `broker keys rotate`
 * rotates them, and keyset-floor.ts keeps a rotation from being undone. The context key never
 * rotates.
 */
import { randomBytes } from "node:crypto";
import { type Clock, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import { deriveKey } from "@oauth-broker/token-store";
import { z } from "zod";
import { createRevisionFloor, requireNoneInUse, requireRevision, type RevisionFloor } from "./keyset-floor.ts";
import { keysUnavailable } from "./keys-unavailable.ts";
import type { KeysetStorage, StoredKeyset } from "./keyset-storage.ts";

/** What a key is for. A value made under one purpose never opens under another. */
type KeyPurpose =
  | "state"
  | "flow"
  | "connection"
  | "connection-tokens"
  | "parked-tokens"
  | "vendor-secret"
  | "refresh-token"
  | "record-mac";

const TIME = z.int().min(0).max(9_000_000_000);
/** 32 bytes in base64url. */
const ROOT = z.string().regex(/^[\w-]{43}$/);
const GENERATION = z.looseObject({
  kid: z.string().regex(/^[\w-]{1,64}$/),
  createdAt: TIME,
  /** Not used for new values before this second, so that every process has read it by then. */
  activeFrom: TIME,
  secret: ROOT,
});
type Generation = Readonly<z.infer<typeof GENERATION>>;

/** An operator can edit a key file by hand, and a weak or missing secret would sign all the same. */
const DOCUMENT = z.looseObject({
  version: z.literal(1),
  generations: z.array(GENERATION).min(1),
  /**
   * For the `{context}` paths of custom vendors: changing it means registering each of them again.
   */
  contextSecret: ROOT,
});
type KeysetDocument = Readonly<z.infer<typeof DOCUMENT>>;

/** A generation is published this long before it signs. */
export const PUBLISH_SECONDS = 60;
/** A state signed just before a rotation is accepted this much longer. */
export const RETIRED_STATE_SECONDS = 900;
/**
 * A root that has been replaced signs nothing new for long: its states, and the MACs of its
 * records, are accepted this many seconds more. A record lives ten minutes, and an hour longer for
 * `broker flow ID`. What it sealed under another purpose opens for ever.
 */
const RETIRED_SECONDS: Partial<Record<KeyPurpose, number>> = { state: RETIRED_STATE_SECONDS, "record-mac": 4_500 };
/** Unknown kids cause at most one re-read of the storage per second. */
const REREAD_SECONDS = 1;

export type Keyset = ReturnType<typeof createKeyset>;

export function createKeyset({
  storage,
  floor = createRevisionFloor(),
  now,
  onRotation,
}: {
  readonly storage: KeysetStorage;
  /** Default: a floor that does not outlive this process. */
  readonly floor?: RevisionFloor;
  readonly now: Clock;
  /** Called by `load` when another key is in use than at the load before. */
  readonly onRotation?: (kid: string) => void;
}) {
  let held: Held | undefined;
  let contextKey: Buffer | undefined;
  let lastReadAt = 0;
  let latestRead: Promise<unknown> | undefined;
  let kidAtLastLoad: string | undefined;
  const derived = new Map<string, Map<KeyPurpose, Buffer>>();

  const loaded = (): KeysetDocument => holding().document;
  const holding = (): Held => {
    if (held !== undefined) return held;
    throw new OAuthError("temporarily_unavailable", "The keys are not loaded yet", { reason: "keys_unavailable" });
  };

  /** Never replaces the keyset by an older one: of two reads, the slower may have begun first. */
  const hold = (next: Held): void => {
    if (held === undefined || held.revision <= next.revision) held = next;
  };

  const read = (): ReturnType<typeof readStorage> => {
    lastReadAt = now();
    const reading = readStorage();
    latestRead = reading;
    return reading;
  };

  const readStorage = async (): Promise<{ stored: StoredKeyset; document: KeysetDocument } | undefined> => {
    // First, because another process raises the floor right after it has written.
    const lowest = await floor.lowest();
    const stored = await storage.read();
    if (stored === undefined) {
      requireNoneInUse(lowest);
      return undefined;
    }
    requireRevision(stored.revision, lowest);
    const document = documentIn(stored);
    await floor.raise(stored.revision);
    hold({ revision: stored.revision, document });
    return { stored, document };
  };

  /** @returns its revision, or undefined when another process wrote first */
  const write = async (over: StoredKeyset | undefined, document: KeysetDocument): Promise<number | undefined> => {
    const revision = Math.max(over?.revision ?? 0, await floor.lowest()) + 1;
    if (!(await storage.write(over, { text: JSON.stringify(document), revision }))) return undefined;
    await floor.raise(revision);
    hold({ revision, document });
    return revision;
  };

  const current = (generations: readonly Generation[]): Generation => {
    const newest = generations.findLast((generation) => generation.activeFrom <= now()) ?? generations[0];
    if (newest === undefined) throw new Error("keyset has no generation");
    return newest;
  };

  const keyOf = (purpose: KeyPurpose, { kid, secret }: Generation): Buffer => {
    const ofKid = derived.get(kid) ?? new Map<KeyPurpose, Buffer>();
    const key = ofKid.get(purpose) ?? deriveKey(Buffer.from(secret, "base64url"), `oauth-broker/${purpose}`);
    derived.set(kid, ofKid.set(purpose, key));
    return key;
  };

  /** Whether the successor of a root is settled: a leaked root must not sign for ever. */
  const isRetired = (purpose: KeyPurpose, generation: Generation): boolean => {
    const { generations } = loaded();
    const successor = generations[generations.indexOf(generation) + 1];
    const seconds = RETIRED_SECONDS[purpose];
    return seconds !== undefined && successor !== undefined && successor.activeFrom + seconds <= now();
  };

  return {
    /**
     * Reads the storage. Creates the first keyset when it is empty and always was, and binds one of
     * release 0.1.0 to its place.
     * @throws OAuthError temporarily_unavailable
     */
    async load(): Promise<void> {
      let found = await read();
      for (; found === undefined; found = await read()) await write(undefined, firstDocument(now()));
      // Best effort: a file may be read-only, or the key service may be unable to make data keys
      // now. The next load tries again.
      const { stored, document } = found;
      if (stored.revision === 0) await write(stored, document).catch(() => undefined);
      const { kid } = current(loaded().generations);
      if (kidAtLastLoad !== undefined && kidAtLastLoad !== kid) onRotation?.(kid);
      kidAtLastLoad = kid;
    },
    /**
     * Reads the storage and changes nothing.
     * @returns false when the keyset is missing
     */
    look: async () => (await read()) !== undefined,
    isLoaded: () => held !== undefined,
    /** @throws OAuthError temporarily_unavailable until `load` has succeeded once */
    active(purpose: KeyPurpose) {
      const generation = current(loaded().generations);
      return { kid: generation.kid, key: keyOf(purpose, generation) };
    },
    /** An unknown kid re-reads the storage once, because another process may have rotated. */
    async find(purpose: KeyPurpose, kid: string): Promise<Buffer | undefined> {
      const known = (): Generation | undefined => loaded().generations.find((generation) => generation.kid === kid);
      if (known() === undefined) {
        // If several callers come at once, the first reads and all wait: none is refused in the meantime.
        await (now() - lastReadAt >= REREAD_SECONDS ? read() : latestRead);
      }
      const generation = known();
      if (generation === undefined || isRetired(purpose, generation)) return undefined;
      return keyOf(purpose, generation);
    },
    /**
     * The key of `{context}` paths; it never changes.
     * @throws OAuthError as `active`
     */
    contextKey(): Buffer {
      contextKey ??= deriveKey(Buffer.from(loaded().contextSecret, "base64url"), "oauth-broker/callback-context");
      return contextKey;
    },
    /**
     * Adds a generation. Safe against a second rotation at the same moment.
     * @returns its kid and when it becomes active
     */
    async rotate(): Promise<Pick<Generation, "kid" | "activeFrom">> {
      for (let attempt = 0; attempt < 5; attempt++) {
        const found = await read();
        if (found === undefined) throw new Error("there is no keyset to rotate: start the broker once first");
        const added = newGeneration(now(), now() + PUBLISH_SECONDS);
        const { stored, document } = found;
        const next = { ...document, generations: [...document.generations, added] };
        if ((await write(stored, next)) !== undefined) return { kid: added.kid, activeFrom: added.activeFrom };
      }
      throw new Error("the keyset kept changing under us: try again");
    },
    /**
     * Accepts a keyset of another place, or an older one, as the keyset of this broker; only on the
     * operator's command.
     * @param revision of the keyset that is meant
     * @returns its new revision, above all that were in use
     * @throws OAuthError temporarily_unavailable when the storage holds another keyset
     */
    async adopt(revision: number): Promise<number> {
      const stored = await storage.read({ adopt: true });
      if (stored === undefined) throw keysUnavailable("there is no keyset to adopt");
      //= bar#TS-19
      if (stored.revision !== revision) {
        throw keysUnavailable(`the keyset there is of revision ${stored.revision}, not ${revision}`);
      }
      const adopted = await write(stored, documentIn(stored));
      if (adopted === undefined) throw keysUnavailable("the keyset has just changed: look again");
      return adopted;
    },
    /**
     * Makes a keyset instead of one that is gone; only on the operator's command.
     * @returns its revision, above all that were in use
     * @throws OAuthError temporarily_unavailable while there is a keyset
     */
    async startOver(): Promise<number> {
      const made = await write(undefined, firstDocument(now()));
      if (made === undefined) throw keysUnavailable("there is a keyset: nothing was changed");
      return made;
    },
    /** @throws OAuthError as `active` */
    revision: () => holding().revision,
    /** For `broker keys list`: no secrets. */
    describe() {
      const { generations } = loaded();
      const inUse = current(generations).kid;
      return generations.map(({ kid, createdAt, activeFrom }) => ({
        kid,
        createdAt,
        activeFrom,
        active: kid === inUse,
      }));
    },
  };
}

interface Held {
  readonly revision: number;
  readonly document: KeysetDocument;
}

/** @throws OAuthError temporarily_unavailable */
function documentIn({ text }: StoredKeyset): KeysetDocument {
  const { data, error } = DOCUMENT.safeParse(JSON.parse(text));
  if (error === undefined) return data;
  const [{ path } = { path: [] }] = error.issues;
  throw keysUnavailable(
    `the keyset was written by a newer release, or is damaged at ${path.join(".")}: restore it from a backup`,
  );
}

function firstDocument(at: EpochSeconds): KeysetDocument {
  return { version: 1, generations: [newGeneration(at, at)], contextSecret: randomBytes(32).toString("base64url") };
}

function newGeneration(createdAt: EpochSeconds, activeFrom: EpochSeconds): Generation {
  return {
    kid: randomBytes(6).toString("base64url"),
    createdAt,
    activeFrom,
    secret: randomBytes(32).toString("base64url"),
  };
}
