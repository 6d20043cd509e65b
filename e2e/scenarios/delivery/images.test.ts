/**
 * The images without an engine of containers: what the Dockerfiles promise, and at full size the
 * steps of the broker's on a clean checkout, in a folder of their own. Those of a scaffolded project
 * are the commands of scaffold.test.ts.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { BROKER_FOLDER, MCP_FOLDER, ROOT } from "../../support/paths.ts";
import { plainEnvironment } from "../../support/packages/scaffold.ts";

const broker = readFileSync(join(BROKER_FOLDER, "Dockerfile"), "utf8");
const server = readFileSync(join(MCP_FOLDER, "Dockerfile"), "utf8");
const BUILD_MS = 300_000;

/** @returns what follows the instruction, in order */
const linesOf = (dockerfile: string, instruction: string): string[] =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"))].map(([, rest = ""]) => rest);

describe.each([
  ["of the broker", broker],
  ["of a scaffolded server", server],
])("the image %s", (_, dockerfile) => {
  it("is built in two stages from one base, pinned by digest, with this repository's Node.js", () => {
    const [build = "", final = ""] = linesOf(dockerfile, "FROM");
    expect(build).toBe(`--platform=$BUILDPLATFORM ${final} AS build`);
    expect(final).toMatch(/^node:26\.10\.0-slim@sha256:[0-9a-f]{64}$/);
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      optionalDependencies: Record<string, string>;
    };
    expect(Object.values(optionalDependencies)).toContain("26.10.0");
    expect([broker, server].map((one) => linesOf(one, "FROM"))).toEqual([
      [build, final],
      [build, final],
    ]);
  });

  it("needs nothing that the host built, and gets one file that the process cannot change", () => {
    const [context, file = "", ...more] = linesOf(dockerfile, "COPY");
    expect(context).toBe(". .");
    expect(file).toMatch(/^--from=build --chmod=0444 \/build\/(?:apps\/broker\/)?dist\/main\.js \/srv\/\w+\/main\.js$/);
    expect(more).toEqual([]);
    expect(linesOf(dockerfile, "USER")).toEqual(["node"]);
  });
});

it("the context of the broker's image has no files of a used checkout and no secrets", () => {
  const ignored = readFileSync(join(BROKER_FOLDER, "Dockerfile.dockerignore"), "utf8").split("\n");
  expect(ignored).toEqual(expect.arrayContaining(["**/node_modules", "**/dist", ".git", "**/.env", "broker.yaml"]));
});

it.each(volume({ test: false, soak: true }) ? ["broker"] : [])(
  "the steps of the image of the %s on a clean checkout leave the file that it starts",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "image-"));
    try {
      const sh = (command: string): { readonly status: number | null; readonly output: string } => {
        const options = { cwd: folder, env: plainEnvironment(), encoding: "utf8" } as const;
        const { status, stdout, stderr } = spawnSync("sh", ["-c", command], options);
        return { status, output: `${stdout}${stderr}` };
      };
      // No .git and no node_modules: what the context is.
      expect(sh(`git -C '${ROOT}' archive HEAD | tar -x`)).toEqual({ status: 0, output: "" });
      for (const step of linesOf(broker.split("\nFROM ")[1] ?? "", "RUN")) {
        const { status, output } = sh(step);
        expect(status, output).toBe(0);
      }
      const built = join(folder, "apps/broker/dist/main.js");
      expect(existsSync(built)).toBe(true);
      expect(sh(`'${process.execPath}' '${built}' --help`)).toMatchObject({
        status: 0,
        output: expect.stringMatching(/^Usage/),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  BUILD_MS,
);
