/** Defences of the audit stream. Part of list.ts. */
import type { DefencesByFile } from "../mutation.ts";

export const AUDIT_DEFENCES: DefencesByFile = {
  "apps/broker/src/audit/routes.ts": {
    "While nothing can be recorded, a request is refused before anything is spent": {
      find: "      audit.requireWritable();",
      replace: "      void audit;",
      tests: ["apps/broker/src/audit/audit.test.ts"],
    },
  },
  "apps/broker/src/flows/token.ts": {
    "Tokens are not handed out unrecorded": {
      find: 'await deps.audit.record("tokens_issued", trace);',
      replace: "void deps.audit;",
      tests: ["apps/broker/src/audit/audit.test.ts"],
    },
  },
  "apps/broker/src/audit/file.ts": {
    "What could not be written is refused, not answered": {
      find: "ended?.reject(auditUnavailable());",
      replace: "ended?.resolve();",
    },
  },
  "apps/broker/src/audit/audit.ts": {
    "Values of the audit stream are cut and cleaned as those of the log": {
      rows: ["OB-2"],
      find: ":${jsonText(value)}`;",
      replace: ":${jsonText === undefined ? value : JSON.stringify(value)}`;",
    },
  },
  "apps/broker/src/audit/chain.ts": {
    "Each line has the hash of the one before": {
      find: '"prev":"${prev}"}`;',
      replace: '"prev":"${prev.slice(64)}${NO_LINE}"}`;',
      tests: ["apps/broker/src/audit/file.test.ts", "apps/broker/src/audit/verify.test.ts"],
    },
  },
  "apps/broker/src/audit/verify.ts": {
    "The check compares the hash of the line before": {
      find: "else if (prev !== before.last) report(",
      replace: 'else if (prev === "" && before.last === "") report(',
    },
    "A head that is not among the lines fails the check": {
      find: "for (const hash of notFound) report(",
      replace: "for (const hash of [...notFound].slice(notFound.size)) report(",
    },
  },
};
