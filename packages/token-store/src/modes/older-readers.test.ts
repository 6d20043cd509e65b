import { systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DECLARED_SECONDS, declareOlderReaders, olderReadersUntil } from "./older-readers.ts";
import { memoryTokenRows } from "../storage/memory/token-rows.ts";

const NOW = 1_700_000_000;

describe("older readers", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are declared at start and while the store runs, and for a while after", async () => {
    const deps = { rows: memoryTokenRows(), now: fixedClock(NOW), timer: systemTimer };
    expect(await olderReadersUntil(deps)).toBeUndefined();
    const declaration = declareOlderReaders(deps);
    await declaration.declared;
    expect(await olderReadersUntil(deps)).toBe(NOW + DECLARED_SECONDS);
    deps.now.advance(600);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await olderReadersUntil(deps)).toBe(NOW + 600 + DECLARED_SECONDS);
    declaration.stop();
    deps.now.advance(DECLARED_SECONDS - 1);
    await vi.advanceTimersByTimeAsync(DECLARED_SECONDS * 1000);
    expect(await olderReadersUntil(deps)).toBe(NOW + 600 + DECLARED_SECONDS);
    deps.now.advance(1);
    expect(await olderReadersUntil(deps)).toBeUndefined();
  });

  it("are declared again after an outage of the table", async () => {
    const rows = memoryTokenRows();
    const change = vi.spyOn(rows, "change").mockRejectedValueOnce(new Error("down"));
    const deps = { rows, now: fixedClock(NOW), timer: systemTimer };
    const declaration = declareOlderReaders(deps);
    await declaration.declared;
    expect(await olderReadersUntil(deps)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(600_000);
    declaration.stop();
    expect(change).toHaveBeenCalledTimes(2);
    expect(await olderReadersUntil(deps)).toBe(NOW + DECLARED_SECONDS);
  });
});
