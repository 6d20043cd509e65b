/**
 * The defences that are listed because removing them needs meaning: guards.ts finds the others by
 * their citations. A new entry goes into the list of its workspace; check-mutations.ts says
 * what can be said without a run.
 *
 * An entry is a sentence with the rows it proves in front, and the text of the file as `wdiff` shows
 * a change: `expiresAt > now{+ - now+}` puts in, `[-isLive-]{+true+}` replaces, `[-&& isLive-]` takes
 * out. The test beside the file notices, or one that carries a row of the entry in a title. If others
 * do, the entry begins with the ends of their paths, and each has to.
 */
import { posix } from "node:path";
import { rowsIn } from "../pages/requirements.ts";
import { BROKER_DEFENCES } from "./list/broker.ts";
import { MCP_AUTH_DEFENCES } from "./list/mcp-auth.ts";
import { OAUTH_CORE_DEFENCES } from "./list/oauth-core.ts";
import { OTHERS_DEFENCES } from "./list/others.ts";
import { PLATFORM_DEFENCES } from "./list/platform.ts";
import { SERVICE_DEFENCES } from "./list/service.ts";
import { TOKEN_STORE_DEFENCES } from "./list/token-store.ts";
import type { Defences, Mutation } from "./mutation.ts";
import type { Tests } from "./tests.ts";

const LISTS: readonly (readonly [folder: string, list: Defences])[] = [
  ["apps/broker/src", BROKER_DEFENCES],
  ["apps/platform/src", PLATFORM_DEFENCES],
  ["packages/mcp-auth/src", MCP_AUTH_DEFENCES],
  ["packages/oauth-core/src", OAUTH_CORE_DEFENCES],
  ["packages/service/src", SERVICE_DEFENCES],
  ["packages/token-store/src", TOKEN_STORE_DEFENCES],
  ["", OTHERS_DEFENCES],
];

/** `shared-link, pages/connect: bar#LK-9 A dead link is not kept`. */
const ENTRY = /^(?:([a-z][\w./, -]*): )?((?:(?:bar#\S+|X-\d+) )*)(.*)$/;

/** What the lists say, in their order; `named` are the ends of the paths of tests. */
export const LISTED: readonly (Omit<Mutation, "tests"> & { readonly named: readonly string[] | undefined })[] =
  LISTS.flatMap(([folder, list]) =>
    Object.entries(list).flatMap(([file, defences]) =>
      Object.entries(defences).map(([entry, change]) => {
        const [, named, rows = "", defence = ""] = ENTRY.exec(entry) ?? [];
        return {
          defence,
          rows: rowsIn(rows),
          file: posix.join(folder, file),
          find: change.replace(/\{\+.*?\+\}/gs, "").replace(/\[-(.*?)-\]/gs, "$1"),
          replace: change.replace(/\[-.*?-\]/gs, "").replace(/\{\+(.*?)\+\}/gs, "$1"),
          named: named?.split(", "),
        };
      }),
    ),
  );

/** @returns the mutations of the lists */
export function readListed(tests: Tests): Mutation[] {
  return LISTED.map(({ named, ...listed }) => {
    if (named !== undefined) return { ...listed, tests: named.map((end) => tests.named(end)) };
    const sections = (listed.rows ?? []).map((row) => `bar#${row}`);
    const found = new Set([...tests.beside(listed.file), ...tests.carrying(listed.file, sections)]);
    return { ...listed, tests: [...found], isOneEnough: true };
  });
}
