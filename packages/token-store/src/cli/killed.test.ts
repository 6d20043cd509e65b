/**
 * Migrate and strip killed at every write they make, of rows and of the checkpoint, before it and
 * after it. A process here is promises: one that is killed never goes on. run.test.ts kills a real
 * one, and the simulator (`migrate-beside-a-writer`) runs every order of writers beside it.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";
import type { TokenRows } from "../storage/token-rows.ts";
import {
  AUDIT,
  cliFixture,
  type CliFixture,
  keyOf,
  memoryCheckpoint,
  MIGRATE,
  olderRow,
  STRIP,
} from "../testing/cli-fixture.ts";
import { countingWrapper } from "../testing/aws/counting-wrapper.ts";
import type { TokenSet } from "../tokens/tokens.ts";
import { audit } from "./audit.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { migrate } from "./migrate.ts";
import type { Result } from "./report.ts";
import { strip } from "./strip.ts";

const COMMANDS = {
  migrate: ({ deps }: CliFixture): Promise<Result> => migrate({ ...MIGRATE, rate: 10_000 }, deps),
  strip: ({ deps }: CliFixture): Promise<Result> => strip({ ...STRIP, rate: 10_000 }, deps),
};

interface Death {
  /** Counted from 1. */
  readonly atWrite: number;
  readonly isWritten: boolean;
}

/** Rows and checkpoint of a process that dies at a write; `died` is whether it came to that. */
function mortal(
  { atWrite, isWritten }: Death,
  rows: TokenRows,
  checkpoint: Checkpoint,
): { readonly rows: TokenRows; readonly checkpoint: Checkpoint; readonly died: Promise<"killed"> } {
  const death = Promise.withResolvers<"killed">();
  const never = new Promise<never>(() => undefined);
  let writes = 0;
  const read = <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => (writes >= atWrite ? never : call(...args));
  };
  const write = <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      writes += 1;
      if (writes < atWrite) return call(...args);
      if (writes === atWrite && isWritten) await call(...args);
      death.resolve("killed");
      return never;
    };
  };
  return {
    rows: {
      ...rows,
      get: read(rows.get),
      scan: read(rows.scan),
      change: write(rows.change),
      delete: write(rows.delete),
    },
    checkpoint: {
      load: read(checkpoint.load),
      save: write(checkpoint.save),
      remove: write(checkpoint.remove),
    },
    died: death.promise,
  };
}

const tokens = (user: string, write: number): TokenSet => ({
  accessToken: new Secret(`plain-at-${user}-${write}`),
  refreshToken: new Secret(`plain-rt-${user}-${write}`),
  tokenType: "Bearer",
});

interface Table {
  readonly server: CliFixture;
  /** The write that each user's tokens are of. */
  readonly last: Map<string, number>;
  /** Runs a command that dies; then an older build and a server write; then it is run to its end. */
  killed(command: keyof typeof COMMANDS, death: Death): Promise<{ first: Result | "killed"; second: Result }>;
}

/** Rows of every kind: plaintext only, both, both with a copy that an older build changed, sealed. */
async function table(): Promise<Table> {
  const [rows, keys] = [memoryTokenRows({ table: "tokens" }), countingWrapper()];
  const server = cliFixture({ rows, keys });
  const last = new Map<string, number>();
  for (const user of ["older", "older2", "older3"]) await server.older(user);
  for (const user of ["both", "both2", "changed"]) await server.records("bridge").replace(keyOf(user), tokens(user, 1));
  await server.records("encrypted").replace(keyOf("sealed"), tokens("sealed", 1));
  for (const user of ["older", "older2", "older3", "both", "both2", "sealed"]) last.set(user, 1);
  await server.older("changed", olderRow("changed", 2));
  last.set("changed", 2);
  return {
    server,
    last,
    killed: async (command, death) => {
      const checkpoint = memoryCheckpoint();
      const { died, ...kept } = mortal(death, rows, checkpoint);
      const first = await Promise.race([COMMANDS[command](cliFixture({ ...kept, keys })), died]);
      const isBridge = command === "migrate";
      if (isBridge) await server.older("older2", olderRow("older2", 3));
      await server.records(isBridge ? "bridge" : "encrypted").replace(keyOf("both2"), tokens("both2", 4));
      if (isBridge) last.set("older2", 3);
      last.set("both2", 4);
      return { first, second: await COMMANDS[command](cliFixture({ rows, keys, checkpoint })) };
    },
  };
}

/** Every user's tokens, as a server of this mode finds them, are those written last. */
async function expectLast({ server, last }: Table, mode: "bridge" | "encrypted"): Promise<void> {
  for (const [user, write] of last) {
    const found = (await server.records(mode).read(keyOf(user)))?.stored.tokens;
    expect([found?.accessToken.reveal(), found?.refreshToken?.reveal()], user).toEqual([
      `plain-at-${user}-${write}`,
      `plain-rt-${user}-${write}`,
    ]);
  }
}

const counts = async ({ server }: Table): Promise<Result["counts"]> =>
  (await audit({ ...AUDIT, verify: true, rate: 10_000 }, server.deps)).counts;

describe.each([{ isWritten: false }, { isWritten: true }])("killed at a write, made: $isWritten", ({ isWritten }) => {
  /** Each write in turn, until the command comes to its end without dying. */
  async function atEachWrite(command: keyof typeof COMMANDS, expectIn: (table: Table) => Promise<void>): Promise<void> {
    let atWrite = 0;
    for (let isOver = false; !isOver;) {
      atWrite += 1;
      const made = await table();
      if (command === "strip") await COMMANDS.migrate(made.server);
      const { first, second } = await made.killed(command, { atWrite, isWritten });
      isOver = first !== "killed";
      expect(second.ending, `write ${atWrite}`).toBe("done");
      await expectIn(made);
      await expectLast(made, "encrypted");
    }
    expect(atWrite).toBeGreaterThan(7);
  }

  it("bar#TS-15 migrate loses nothing at any of them, and goes on", () =>
    atEachWrite("migrate", async (made) => {
      expect(await counts(made)).toMatchObject({ plaintext_only: 0, both: 6, ciphertext_only: 1 });
      // A copy stays for readers of before, as long as strip has not run.
      expect(await made.server.attributes("older2")).toMatchObject({ access_token: "plain-at-older2-3" });
      await expectLast(made, "bridge");
    }));

  it("bar#TS-15 bar#TS-10 strip leaves no plaintext and loses nothing, at any of them", () =>
    atEachWrite("strip", async ({ server }) => {
      expect(JSON.stringify(await server.rows.scan({ limit: 100 }))).not.toContain("plain-");
    }));
});
