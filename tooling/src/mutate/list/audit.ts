/** Defences of the audit stream. Part of list.ts. */
import type { Mutation } from "../mutation.ts";

const AUDIT = "apps/broker/src/audit";
const STREAM = `${AUDIT}/audit.test.ts`;
const FILE = `${AUDIT}/file.test.ts`;
const VERIFY = `${AUDIT}/verify.test.ts`;

export const AUDIT_DEFENCES: readonly Mutation[] = [
  {
    defence: "While nothing can be recorded, a request is refused before anything is spent",
    file: `${AUDIT}/routes.ts`,
    find: "      audit.requireWritable();",
    replace: "      void audit;",
    tests: [STREAM],
  },
  {
    defence: "Tokens are not handed out unrecorded",
    file: "apps/broker/src/flows/token.ts",
    find: 'await deps.audit.record("tokens_issued", trace);',
    replace: "void deps.audit;",
    tests: [STREAM],
  },
  {
    defence: "What could not be written is refused, not answered",
    file: `${AUDIT}/file.ts`,
    find: "ended?.reject(auditUnavailable());",
    replace: "ended?.resolve();",
    tests: [FILE],
  },
  {
    defence: "Values of the audit stream are cut and cleaned as those of the log",
    rows: ["OB-2"],
    file: `${AUDIT}/audit.ts`,
    find: ":${jsonText(value)}`;",
    replace: ":${jsonText === undefined ? value : JSON.stringify(value)}`;",
    tests: [STREAM],
  },
  {
    defence: "Each line has the hash of the one before",
    file: `${AUDIT}/chain.ts`,
    find: '"prev":"${prev}"}`;',
    replace: '"prev":"${prev.slice(64)}${NO_LINE}"}`;',
    tests: [FILE, VERIFY],
  },
  {
    defence: "The check compares the hash of the line before",
    file: `${AUDIT}/verify.ts`,
    find: "else if (prev !== before.last) report(",
    replace: 'else if (prev === "" && before.last === "") report(',
    tests: [VERIFY],
  },
  {
    defence: "A head that is not among the lines fails the check",
    file: `${AUDIT}/verify.ts`,
    find: "for (const hash of notFound) report(",
    replace: "for (const hash of [...notFound].slice(notFound.size)) report(",
    tests: [VERIFY],
  },
];
