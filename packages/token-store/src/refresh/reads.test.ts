import { expect, it } from "vitest";
import { shareReads } from "./reads.ts";

interface Fixture {
  readonly read: (key: string) => Promise<string>;
  readonly begun: string[];
  end(index: number, value: string | Error): Promise<void>;
}

function fixture(): Fixture {
  const begun: string[] = [];
  const ends: PromiseWithResolvers<string>[] = [];
  const read = shareReads(
    (key: string) => {
      begun.push(key);
      const end = Promise.withResolvers<string>();
      ends.push(end);
      return end.promise;
    },
    (key) => key,
  );
  return {
    read,
    begun,
    end: async (index, value) => {
      if (value instanceof Error) ends[index]?.reject(value);
      else ends[index]?.resolve(value);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("callers of one moment cost one read, begun after all of them", async () => {
  const { read, begun, end } = fixture();
  const all = Promise.all(Array.from({ length: 1000 }, () => read("a")));
  expect(begun).toEqual([]);
  await turn();
  expect(begun).toEqual(["a"]);
  await end(0, "one");
  expect(new Set(await all)).toEqual(new Set(["one"]));
});

it("a caller that comes while a read is under way shares the next one, not that one", async () => {
  const { read, begun, end } = fixture();
  const first = read("a");
  await turn();
  const others = Promise.all(Array.from({ length: 999 }, () => read("a")));
  await turn();
  expect(begun).toEqual(["a"]);
  await end(0, "one");
  expect(await first).toBe("one");
  const later = read("a");
  await turn();
  expect(begun).toEqual(["a", "a"]);
  await end(1, "two");
  expect(new Set(await others)).toEqual(new Set(["two"]));
  await end(2, "three");
  expect(await later).toBe("three");
  expect(begun).toHaveLength(3);
});

it("a read that fails fails its own callers only", async () => {
  const { read, end } = fixture();
  const first = read("a").catch((error: Error) => error.message);
  await turn();
  const second = read("a");
  await end(0, new Error("down"));
  expect(await first).toBe("down");
  await end(1, "up");
  expect(await second).toBe("up");
});

it("other records do not wait", async () => {
  const { read, begun } = fixture();
  void read("a");
  void read("b");
  await turn();
  expect(begun).toEqual(["a", "b"]);
});
