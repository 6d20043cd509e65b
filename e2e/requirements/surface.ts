/**
 * What HTTP brings to our own endpoints, and what the operation of the services depends on. Part of
 * list.ts.
 */
import { attack, FLOWS, notOurs, PROTOCOL, type Requirement, row, SCENARIOS, twin } from "./requirement.ts";

export const SURFACE: readonly Requirement[] = [
  row(
    "HT-1",
    "A body is endless, or its length is not declared or declared twice. It is 413 before it is too much, and bytes are counted by us.",
    `${SCENARIOS}/broker/http.test.ts`,
  ),
  row(
    "HT-2",
    "A body is of another content type or charset. It is refused with 415.",
    "packages/service/src/http/body.test.ts",
  ),
  twin(
    "HT-3",
    "A parameter comes twice, as an array, or is called `__proto__`. It has one value, or the request is refused; no name is special to us.",
    attack("parameters"),
    `${PROTOCOL}/parameters.test.ts`,
  ),
  row(
    "HT-4",
    "Bytes are no text: line breaks, NUL, broken percent-encoding, in path, query, header or body. The request is refused and never causes a server error.",
    `${SCENARIOS}/broker/http.test.ts`,
    `${PROTOCOL}/parameters.test.ts`,
  ),
  row(
    "HT-5",
    "Clients send headers or bodies slowly, or nothing. Their connections are closed, and other clients are not affected.",
    `${SCENARIOS}/broker/http-slow.test.ts`,
  ),
  row(
    "HT-6",
    "`Host`, `Forwarded` or `X-Forwarded-*` are forged. They change no URL: those come from the configuration.",
    attack("http-surface"),
    attack("callback-parameters"),
  ),
  row(
    "HT-7",
    "A path is spelled oddly, or a user agent claims to be a probe. Only public routes are open.",
    attack("http-surface"),
  ),
  twin(
    "HT-8",
    "A page of another origin reads our answers. Only one that the operator lists may, at what clients call, and never with the user's cookies.",
    "packages/mcp-auth/src/resource-server.twin.test.ts",
    attack("http-surface"),
    "packages/service/src/http/cors.test.ts",
    "packages/mcp-auth/src/origins.test.ts",
  ),
  row(
    "HT-9",
    "An attacker measures how long the comparison of a secret takes. Secrets are compared in constant time, and a rule over the source keeps it so.",
    `${PROTOCOL}/mac.test.ts`,
    "tooling/src/code/secret-comparisons.test.ts",
  ),
  row(
    "HT-10",
    "An answer is framed, sniffed, cached or sent over plain http. Every answer has the headers that forbid it.",
    attack("http-surface"),
  ),
];

export const OPERATIONS: readonly Requirement[] = [
  row(
    "OB-1",
    "A refusal must be found afterwards. Every leg leaves what happened and why, with client and flow and without a secret, and refusals are counted by reason.",
    "apps/broker/src/metrics.test.ts",
    `${FLOWS}/check.test.ts`,
    `${SCENARIOS}/broker/timeline.test.ts`,
    `${SCENARIOS}/broker/audit.test.ts`,
  ),
  row(
    "OB-2",
    "Secrets are planted in every flow and looked for in output, errors, labels and files. None is found.",
    attack("canaries"),
    attack("leaks"),
    "packages/service/src/log.test.ts",
    "apps/broker/src/audit/audit.test.ts",
    "apps/broker/src/metrics.test.ts",
  ),
  row(
    "OB-3",
    "A vendor or a user's grant is compromised. The operator switches the vendor off, for refreshes too, and ends a user's link by one command.",
    `${FLOWS}/byoc.test.ts`,
    "packages/mcp-auth/src/cli/run-command.test.ts",
  ),
  notOurs(
    "OB-4",
    "A caller reads far more stored tokens than usual. Reads are logged and stand out.",
    "No interface hands out a stored token: the broker keeps none, and a server uses a user's token for that user's own call, which is logged",
  ),
  row(
    "OB-5",
    "A dependency has a known hole, or runs a script when it is installed. The lockfile holds no release below the one that closed it, and no install scripts run.",
    "tooling/src/repository/lockfile.test.ts",
  ),
  row(
    "OB-6",
    "A service is started without its keys. It creates none and does not serve.",
    "apps/broker/src/keys/keyset.test.ts",
  ),
  row(
    "OB-7",
    "A caller writes into the log through its trace header: a line break, another field, a very long value. Nothing but 32 hexadecimal digits is taken from it, and the header is sent to no vendor.",
    "packages/service/src/tracing/traceparent.test.ts",
    `${SCENARIOS}/broker/traces.test.ts`,
  ),
];
