/**
 * `audit`: the file or stream of the audit, and whether it can go there. A file that cannot be
 * written is refused at the start, because the broker would then answer no request.
 */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Parsed } from "@oauth-broker/service/configuration";
import { MARK } from "../audit/chain.ts";
import type { Say } from "./problems.ts";
import type { Source, Tree } from "./source.ts";
import type { AuditConfig } from "../config-types.ts";

/** A path is returned as written; build.ts makes it absolute. */
export function parseAudit(text: string): Parsed<AuditConfig> {
  if (text === "off" || text === "stdout") return { value: { kind: text } };
  if (/^file:[^\0]+$/.test(text)) return { value: { kind: "file", path: text.slice("file:".length) } };
  return { problem: "must be off, stdout or file:PATH" };
}

/** Creates nothing. Reports only the file; the schema checks the text. */
export function checkAuditFile({ audit }: Tree, { directory }: Source, say: Say): void {
  const parsed = typeof audit === "string" ? parseAudit(audit) : undefined;
  if (parsed === undefined || !("value" in parsed) || parsed.value.kind !== "file") return;
  const fault = faultOf(resolve(directory, parsed.value.path));
  const expected = "file:PATH of a file that the broker may read and write, in a folder that is there";
  if (fault !== undefined) say("audit", fault, expected, "file:/var/log/broker/audit.jsonl");
}

const { R_OK, W_OK, X_OK } = constants;

function faultOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) accessSync(dirname(path), W_OK | X_OK);
    else if (!stats.isFile()) return "names something that is no file";
    else if (!isOfStream(path)) return "names a file with other content";
    else accessSync(path, R_OK | W_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? "names a file in a folder that does not exist"
      : `names a file that cannot be written (${code ?? "error"})`;
  }
}

/** An existing file has to begin as the stream does: the store, say, would be spoiled. */
function isOfStream(path: string): boolean {
  const start = Buffer.from(`{${MARK},`);
  const bytes = Buffer.alloc(start.length);
  const fd = openSync(path, "r");
  try {
    const length = readSync(fd, bytes);
    return bytes.subarray(0, length).equals(start.subarray(0, length));
  } finally {
    closeSync(fd);
  }
}
