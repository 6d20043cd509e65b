import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseTestFiles, countTests, nameFailures, nearTestFiles } from "../../../scripts/test.mjs";
import { HAS_VOLUME } from "../../../scripts/vitest-config.ts";
import { readTexts, ROOT } from "../sources.ts";

const report = {
  success: true,
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ status: "passed", assertionResults: [{ status: "passed" }] }],
};

describe("the closing line of npm test", () => {
  it("adds skipped and planned tests", () => {
    expect(countTests({ ...report, numPendingTests: 2, numTodoTests: 1 })).toEqual({
      passed: 5,
      failed: 0,
      skipped: 3,
    });
  });

  it("counts a file that did not load as one failure", () => {
    const testResults = [...report.testResults, { status: "failed", assertionResults: [] }];
    expect(countTests({ ...report, success: false, testResults })).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it("does not count the file of a failed test a second time", () => {
    const testResults = [{ status: "failed", assertionResults: [{ status: "failed" }] }];
    expect(countTests({ ...report, success: false, numFailedTests: 1, testResults }).failed).toBe(1);
  });

  it("counts a run that failed outside any test", () => {
    expect(countTests({ ...report, success: false }).failed).toBe(1);
  });
});

it("the soak runs every test that has a volume, and docs/testing.md says with which", () => {
  const scripts = readTexts(["{packages/*,apps/*,e2e,tooling}/package.json"]);
  const page = readTexts(["docs/testing.md"]).get("docs/testing.md") ?? "";
  const withVolume = [...readTexts(["{packages/*,apps/*,e2e,tooling}/**/*.test.ts"])].filter(([, text]) =>
    HAS_VOLUME.test(text),
  );
  expect(withVolume.length).toBeGreaterThan(20);
  for (const [path] of withVolume) {
    const [workspace = ""] = /^(?:packages|apps)\/[^/]+|^[^/]+/.exec(path) ?? [];
    expect(scripts.get(`${workspace}/package.json`), path).toContain('"test:soak"');
    if (!path.includes("/load/bench/")) expect(page).toContain(path.replace(/^(?:packages|apps)\//, ""));
  }
});

it("npm test names each failed test and file, with one line of its error", () => {
  const assertionResults = [
    { status: "passed", fullName: "adds" },
    { status: "failed", fullName: "a list is sorted", failureMessages: ["AssertionError: 1 is not 2\n    at sort"] },
  ];
  const testResults = [
    { status: "passed", name: join(ROOT, "e2e", "good.test.ts"), assertionResults: [] },
    { status: "failed", name: join(ROOT, "e2e", "list.test.ts"), assertionResults },
    { status: "failed", name: join(ROOT, "e2e", "file.test.ts"), message: "SyntaxError: odd", assertionResults: [] },
  ];
  expect(nameFailures({ ...report, testResults }, ROOT)).toEqual([
    "e2e/list.test.ts: a list is sorted: AssertionError: 1 is not 2",
    "e2e/file.test.ts: SyntaxError: odd",
  ]);
});

describe("npm test -- PATTERN", () => {
  const files = [
    "apps/broker/src/routes/callback.test.ts",
    "e2e/attacks/callback-port.attack.test.ts",
    "packages/oauth-core/src/protocol/scope.test.ts",
    "tooling/src/repository/scripts.test.ts",
  ];

  it("takes the files whose path contains a word, by workspace", () => {
    expect(chooseTestFiles(files, ["Callback", "tooling/"])).toEqual([
      ["apps/broker", ["src/routes/callback.test.ts"]],
      ["e2e", ["attacks/callback-port.attack.test.ts"]],
      ["tooling", ["src/repository/scripts.test.ts"]],
    ]);
    expect(chooseTestFiles(files, ["calback"])).toEqual([]);
    expect(chooseTestFiles(files, [])).toEqual([]);
  });

  it("names files that are close to a word that no path contains", () => {
    expect(nearTestFiles(files, "calback")).toEqual(["callback", "callback-port"]);
    expect(nearTestFiles(files, "scopes")).toEqual(["scope"]);
    expect(nearTestFiles(files, "something-else")).toEqual([]);
  });
});

it("a command that runs one test file of e2e names one that is there", () => {
  const commands = [...readTexts(["scripts/*.mjs"]).values()].join("\n");
  const named = Array.from(commands.matchAll(/testE2e\("([^"]+\.test\.ts)"/g), ([, path = ""]) => path);
  expect(named).toHaveLength(4);
  for (const path of named) expect([path, existsSync(join(ROOT, "e2e", path))]).toEqual([path, true]);
});
