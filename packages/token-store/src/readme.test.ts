import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

it("the README's example runs as it stands, and prints what it says", async () => {
  const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const example = /```ts\n([^]*?)```/.exec(page)?.[1] ?? "";
  const said = /console\.log\(.*\); \/\/ (.*)/.exec(example)?.[1];
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  try {
    // In the package's own folder, where its name and those of its dependencies are found.
    const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", example], {
      cwd: PACKAGE,
      env: { DATA_DIR: folder },
    });
    expect((await run).stdout).toBe(`${said}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
