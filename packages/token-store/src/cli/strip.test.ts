import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it, vi } from "vitest";
import {
  cliBench,
  type CliBench,
  ISSUER,
  keyOf,
  memoryCheckpoint,
  NOW,
  olderRow,
  VENDOR,
} from "../testing/cli-bench.ts";
import { copyAttributes, rowKeyOf } from "../tokens/token-attributes.ts";
import { strip } from "./strip.ts";

const OPTIONS = { issuers: new Map([[VENDOR, ISSUER]]), rate: 100, dryRun: false, mode: "encrypted" } as const;
const TOKENS = { accessToken: new Secret("plain-at"), refreshToken: new Secret("plain-rt"), tokenType: "Bearer" };

async function copies(bench: CliBench, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await bench.records("bridge").replace(keyOf(`u${i}`), TOKENS);
}

const text = async (bench: CliBench): Promise<string> => JSON.stringify(await bench.rows.scan({ limit: 10_000 }));

describe("strip", () => {
  it("bar#TS-10 removes every copy; the tokens stay, under the mark of a row that gets none any more", async () => {
    const bench = cliBench();
    await copies(bench, 250);
    await bench.records("encrypted").replace(keyOf("sealed"), TOKENS);
    const sealed = await bench.attributes("sealed");
    expect(await strip(OPTIONS, bench.deps)).toMatchObject({ ending: "done", counts: { rows: 251, stripped: 250 } });
    expect(await text(bench)).not.toContain("plain-");
    for (const mode of ["bridge", "encrypted"] as const) {
      const read = await bench.records(mode).read(keyOf("u77"));
      expect(read?.stored).toMatchObject({ version: 1, writtenAt: NOW });
      expect(read?.stored.tokens.refreshToken?.reveal()).toBe("plain-rt");
    }
    await bench.records("bridge").replace(keyOf("u77"), TOKENS);
    expect(await text(bench)).not.toContain("plain-");
    expect(await bench.attributes("sealed")).toEqual(sealed);
  });

  it("leaves a copy that shows other tokens: servers ignore it, and who wrote it is not known", async () => {
    const bench = cliBench();
    await copies(bench, 2);
    await bench.older("u0", { access_token: "plain-at-planted" });
    await bench.records("encrypted").replace(keyOf("marked"), TOKENS);
    await bench.older("marked", olderRow("marked"));
    expect(await strip(OPTIONS, bench.deps)).toMatchObject({
      ending: "plaintext_left",
      counts: { stripped: 1, copy_differs: 2 },
      next: [expect.stringContaining("--list differs")],
    });
    const tokenOf = async (user: string): Promise<string | undefined> =>
      (await bench.records("encrypted").read(keyOf(user)))?.stored.tokens.accessToken.reveal();
    expect(await tokenOf("u0")).toBe("plain-at");
    expect(await tokenOf("marked")).toBe(TOKENS.accessToken.reveal());
  });

  it("deletes what is past its ttl and shows tokens, unless the user came back meanwhile", async () => {
    const bench = cliBench();
    await bench.older("gone", { ...olderRow("gone"), ttl: NOW });
    await bench.older("back", { ...olderRow("back"), ttl: NOW });
    const { delete: remove } = bench.rows;
    vi.spyOn(bench.rows, "delete").mockImplementationOnce(async (key, expected) => {
      await bench.records("encrypted").replace(keyOf("back"), TOKENS);
      return remove(key, expected);
    });
    expect(await strip(OPTIONS, bench.deps)).toMatchObject({ ending: "done", counts: { expired_deleted: 1 } });
    expect(await bench.attributes("gone")).toBeUndefined();
    expect(await bench.records("encrypted").read(keyOf("back"))).toBeDefined();
  });

  it("never takes the copy from a row whose ciphertext does not open", async () => {
    const bench = cliBench();
    await copies(bench, 2);
    await bench.older("u0", { sealed_access_token: "AAAA" });
    await bench.older("u1", {}, "another");
    await bench.records("bridge").replace(keyOf("x", "another"), TOKENS);
    const before = [await bench.attributes("u0"), await bench.attributes("x", "another")];
    const result = await strip(OPTIONS, bench.deps);
    expect(result).toMatchObject({
      ending: "plaintext_left",
      counts: { stripped: 1, unreadable: 1, unknown_issuer: 1 },
    });
    expect([await bench.attributes("u0"), await bench.attributes("x", "another")]).toEqual(before);
  });

  it("bar#TS-15 loses nothing that a server writes at the same time", async () => {
    const bench = cliBench();
    await copies(bench, 40);
    const change = bench.rows.change;
    let raced = 0;
    vi.spyOn(bench.rows, "change").mockImplementation(async (key, what, expected) => {
      const isOurs = what.set["mode"] === "encrypted" && Object.hasOwn(expected, "data_key");
      if (isOurs && (raced += 1) % 2 === 0) {
        const user = key.pk.slice("USER#".length);
        await bench.records("encrypted").replace(keyOf(user), { ...TOKENS, accessToken: new Secret("from-server") });
      }
      return change(key, what, expected);
    });
    expect(await strip(OPTIONS, bench.deps)).toMatchObject({ ending: "done" });
    vi.restoreAllMocks();
    let newer = 0;
    for (let i = 0; i < 40; i += 1) {
      const read = await bench.records("encrypted").read(keyOf(`u${i}`));
      if (read?.stored.version === 2) newer += 1;
      expect(read?.stored.tokens.accessToken.reveal()).toBe(read?.stored.version === 2 ? "from-server" : "plain-at");
    }
    expect(newer).toBe(20);
  });

  it("puts off a row under a lease to the end of the pass, until the lease has ended", async () => {
    const bench = cliBench();
    await copies(bench, 3);
    const lease = { owner: "server", until: NOW + 30, attemptId: "a" };
    const records = bench.records("bridge");
    const held = await records.note((await records.read(keyOf("u0")))!, { lease });
    expect(held).toBeDefined();
    const change = vi.spyOn(bench.rows, "change");
    expect(await strip(OPTIONS, bench.deps)).toMatchObject({ ending: "done", counts: { stripped: 3 } });
    expect(change.mock.lastCall?.[0]).toEqual(rowKeyOf(keyOf("u0")));
    expect(bench.clock()).toBeGreaterThanOrEqual(NOW + 30);
  });

  it("says so where a lease does not end", async () => {
    const bench = cliBench();
    await copies(bench, 1);
    await bench.older("u0", { lease_until: NOW + 10 ** 8, lease_owner: "x", lease_attempt: "y" });
    const result = await strip(OPTIONS, bench.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { in_use: 1, passes: 5 } });
  });

  it("says so where copies come back all the time", async () => {
    const bench = cliBench();
    await copies(bench, 1);
    const scan = bench.rows.scan;
    vi.spyOn(bench.rows, "scan").mockImplementation(async (options) => {
      await bench.older("u0", copyAttributes(TOKENS, NOW));
      return scan(options);
    });
    const result = await strip(OPTIONS, bench.deps);
    expect(result).toMatchObject({ ending: "plaintext_left", counts: { passes: 5 } });
    expect(result.next).toEqual([expect.stringContaining("Copies come back")]);
  });

  it("goes on from its checkpoint", async () => {
    const checkpoint = memoryCheckpoint();
    const bench = cliBench({ checkpoint });
    await copies(bench, 300);
    const { report } = bench.deps;
    const stopped = await strip(OPTIONS, {
      ...bench.deps,
      report: (one) => {
        report(one);
        if (one.event === "progress" && one.pass === 1 && one.done === 150) bench.stop.abort("SIGINT");
      },
    });
    expect(stopped.ending).toBe("interrupted");
    expect(checkpoint.kept).toMatchObject({ done: 100, total: 300 });
    const deps = { ...bench.deps, signal: new AbortController().signal };
    expect(await strip(OPTIONS, deps)).toMatchObject({ ending: "done", counts: { stripped: 300 } });
    expect(await text(bench)).not.toContain("plain-");
  });

  it("dry: says what it would do, and does nothing", async () => {
    const bench = cliBench();
    await copies(bench, 3);
    const before = await text(bench);
    expect(await strip({ ...OPTIONS, dryRun: true }, bench.deps)).toMatchObject({
      ending: "plaintext_left",
      dryRun: true,
      counts: { both: 3, shows_plaintext: 3 },
    });
    expect(await text(bench)).toBe(before);
  });
});
