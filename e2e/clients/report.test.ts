/** The page of `npm run clients`, from rows that were not run. */
import { expect, it } from "vitest";
import { allClients, pythonVersions } from "./list.ts";
import { report } from "./report.ts";
import { excused, type Outcome, type Row } from "./run.ts";

const YES: Outcome = { result: "yes" };
const GOOD: Row["outcomes"] = { login: YES, restart: YES, refresh: YES, "an hour later": YES, revoked: YES };
const row = (title: string, outcomes: Partial<Row["outcomes"]> = {}): Row => ({
  title,
  version: "1.2.3",
  language: "Go",
  outcomes: { ...GOOD, ...outcomes },
});

it("has a line for each client, and counts those that do all five", () => {
  const page = report([row("one"), row("two", { refresh: { result: "failed", note: "HTTP 500" } })], "2026-11-27");
  expect(page).toMatch(/^<!-- Generated on 2026-11-27. Remake: npm run clients, then npm run docs -->\n/);
  expect(page).toContain("2 clients, of which 1 do all five.");
  expect(page).toContain("| one | 1.2.3 | Go | yes | yes | yes | yes | yes |");
  expect(page).toContain("| two | 1.2.3 | Go | yes | yes | **no** (1) | yes | yes |");
  expect(page).toContain("\n1. HTTP 500\n");
});

it("says once what several clients say, and nothing that differs from run to run", () => {
  const asks = {
    revoked: { result: "yes", note: "asks its user\n again at http://127.0.0.1:4711/mcp | <b>" },
  } as const;
  const page = report([row("one", asks), row("two", asks)], "2026-11-27");
  expect(page.match(/yes \(1\) \|$/gm)).toHaveLength(2);
  expect(page).toContain("\n1. asks its user again at URL b\n");
  expect(page).not.toContain("2. ");
});

it("names a reason where a client cannot be driven", () => {
  const never = { refresh: { result: "no", note: "each command is a process of its own" } } as const;
  expect(report([row("one", never)], "2026-11-27")).toContain("| yes | yes | – (1) | yes | yes |");
});

it("the list has twelve clients beside the Python SDK, each once and in an exact version", () => {
  const clients = allClients((version) => `python-${version}`);
  const ids = clients.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { version } of clients) expect(version).toMatch(/^v?\d+\.\d+\.\d+$/);
  expect(clients.filter(({ language }) => language === "Python")).toHaveLength(pythonVersions().length);
  expect(clients.length - pythonVersions().length).toBeGreaterThanOrEqual(12);
});

it("excuses a client by its own limit, and notices when the limit is gone", () => {
  expect(excused({ result: "failed", note: "HTTP 400" }, "never refreshes")).toEqual({
    result: "no",
    note: "never refreshes",
  });
  expect(excused(YES, "never refreshes").result).toBe("failed");
  expect(excused(YES, undefined)).toBe(YES);
});
