/**
 * The audit stream: who did what, when, in which flow and with what outcome, one line for each
 * event of a closed set, apart from the log. The legs of a flow record what they have done before
 * they answer; while a file cannot be written they refuse. chain.ts makes the lines, file.ts writes
 * them, `broker audit verify` checks them.
 */
import { type Clock, type EpochSeconds, toOAuthError, withRestart } from "@oauth-broker/oauth-core";
import { errorFields, jsonText, type Log, type LogDestination } from "@oauth-broker/service";
import type { Trace } from "@oauth-broker/service/http";
import type { Config } from "../config.ts";
import { type Head, newChain, nextLine } from "./chain.ts";
import { type AuditSink, openAuditFile } from "./file.ts";

/** docs/observability.md says when each is written. */
type AuditEvent =
  | "configuration_loaded"
  | "client_authenticated"
  | "flow_started"
  | "consent_given"
  | "tokens_issued"
  | "tokens_refreshed"
  | "revoked"
  | "refused"
  | "keys_rotated";

/** What a line may say in addition to its event; what else a `Trace` has is not read. */
interface AuditFields extends Trace {
  /** An error code; absent: `ok`. */
  readonly outcome?: string;
  readonly kid?: string;
}

export interface Audit {
  /**
   * Resolves when the line is written. A caller that answers nothing need not wait.
   * @throws OAuthError temporarily_unavailable (`audit_unavailable`) when it cannot be written:
   *   what it records must then not be answered
   */
  record(event: AuditEvent, fields?: AuditFields): Promise<void>;
  /**
   * Called before anything is spent.
   * @throws OAuthError temporarily_unavailable (`audit_unavailable`)
   */
  requireWritable(): void;
  /** Writes what is left and the last head. Nothing can be recorded afterwards. */
  close(): void;
}

export interface AuditDeps {
  readonly now: Clock;
  readonly log: Log;
  /** For `audit: stdout`: the destination of the log, so that lines do not run into each other. */
  readonly stdout?: LogDestination;
}

const HEAD_INTERVAL_MS = 60_000;

/** @throws Error naming the file, when it cannot be opened */
export function openAudit({ audit, clients }: Pick<Config, "audit" | "clients">, deps: AuditDeps): Audit {
  if (audit.kind === "off") return OFF;
  const { log } = deps;
  let logged: Head | undefined;
  const logHead = (head: Head | undefined): void => {
    if (head === undefined || head === logged) return;
    logged = head;
    log.info("audit_head", { ...head });
  };
  const sink =
    audit.kind === "stdout"
      ? stdoutSink(deps.stdout)
      : openAuditFile(audit.path, {
          beforeLeaving: logHead,
          onFailure: (error) => log.error("audit_unavailable", { file: audit.path, ...errorFields(error) }),
          onRecovery: () => log.info("audit_available", { file: audit.path }),
        });
  const timer = setInterval(() => logHead(sink.head()), HEAD_INTERVAL_MS).unref();
  const owners = new Map(clients.map(({ clientId, owner }) => [clientId, owner]));
  return {
    record: (event, fields = {}) => {
      const owner = owners.get(fields.clientId ?? "");
      const written = sink.append(membersOf(event, deps.now(), owner, fields));
      return SPENDING.has(event) ? written.catch(startAgain) : written;
    },
    requireWritable: () => sink.requireWritable(),
    close: () => {
      clearInterval(timer);
      sink.close();
      logHead(sink.head());
    },
  };
}

/** Events after which the same request cannot be sent again: the user has to start a new flow. */
const SPENDING: ReadonlySet<AuditEvent> = new Set(["consent_given", "tokens_issued"]);

function startAgain(error: unknown): never {
  throw withRestart(toOAuthError(error));
}

const WRITTEN = Promise.resolve();

const OFF: Audit = {
  record: () => WRITTEN,
  requireWritable: () => undefined,
  close: () => undefined,
};

/** No value is longer than a log line allows, and none has a query or a control character. */
//= bar#OB-2
function membersOf(event: AuditEvent, at: EpochSeconds, owner: string | undefined, fields: AuditFields): string {
  const { outcome = "ok", clientId, vendor, credentialsId, flowId, traceId, reason, kid } = fields;
  return (
    `"time":"${new Date(at * 1000).toISOString().slice(0, 19)}Z","event":"${event}","outcome":${jsonText(outcome)}` +
    member("client_id", clientId) +
    member("owner", owner) +
    member("vendor", vendor) +
    member("credentials_id", credentialsId) +
    member("flow_id", flowId) +
    member("trace_id", traceId) +
    member("reason", reason) +
    member("kid", kid)
  );
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${jsonText(value)}`;
}

/** Like the log: lines wait for a slow reader, and are lost with one that is gone. */
function stdoutSink(stdout: LogDestination | undefined): AuditSink {
  if (stdout === undefined) throw new TypeError("audit: stdout needs the destination of the log");
  let head: Head | undefined;
  let isFlushDue = false;
  const flush = (): void => {
    isFlushDue = false;
    stdout.flush?.();
  };
  return {
    append: (members) => {
      const next = nextLine(members, head ?? newChain());
      ({ head } = next);
      stdout.write(`${next.line}\n`);
      if (!isFlushDue) setImmediate(flush);
      isFlushDue = true;
      return WRITTEN;
    },
    requireWritable: () => undefined,
    head: () => head,
    close: () => stdout.flushSync?.(),
  };
}
