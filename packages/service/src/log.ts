/**
 * JSON lines on stdout, made only of fields on one list. A field that is not on the list, or has no
 * plain value, is dropped: nothing needs redaction because nothing else gets in.
 */
import { basename, dirname } from "node:path";
import { systemClock } from "@oauth-broker/oauth-core";
import { requestContext } from "./request-context.ts";
import { bufferedStdout, type LogDestination } from "./stdout.ts";

/**
 * Every field a line may have, and its type. A new field is a decision about what leaves the
 * process.
 */
const FIELDS = {
  // Which flow, whose, at which vendor.
  flowId: "string",
  clientId: "string",
  vendor: "string",
  credentialsId: "string",
  sessionId: "string",
  // What was asked and how it ended.
  route: "string",
  method: "string",
  tool: "string",
  operation: "string",
  outcome: "string",
  status: "number",
  durationMs: "number",
  error: "string",
  reason: "string",
  detail: "string",
  vendorError: "string",
  referenceId: "string",
  // A thrown error without its message: see errorFields.
  errorName: "string",
  errorCode: "string",
  causes: "string",
  // Why another party could not be reached: host and code.
  outboundError: "string",
  stackTop: "string",
  // The process itself.
  url: "string",
  metricsUrl: "string",
  file: "string",
  store: "string",
  mode: "string",
  signal: "string",
  warning: "string",
  kid: "string",
  sandbox: "boolean",
  pid: "number",
  port: "number",
  count: "number",
  // The head of the audit stream.
  chain: "string",
  seq: "number",
  hash: "string",
} as const satisfies Readonly<Record<string, "string" | "number" | "boolean">>;

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

/** The fields a line may have. */
export type LogFieldName = keyof typeof FIELDS;
/** The fields of one line, each with its type. */
export type LogFields = { readonly [Name in LogFieldName]?: Types[(typeof FIELDS)[Name]] | undefined };

/** Writes one JSON line an event, by level. Within a request each line has its `trace_id`. */
export interface Log {
  /** @param event a constant in snake_case: `flow_started`, `request`, `listening` */
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /**
   * Writes out the buffer now. For the line that reports that we listen, and before the process
   * ends.
   */
  flush(): void;
}

const LONGEST = 256;
/** Sentences of our own, which end with what to do. */
const LONGER: Readonly<Record<string, number>> = { detail: 1_000, warning: 1_000 };
/** By the name in code: the type, and the name as the line has it (`,"flow_id":`). */
const MEMBERS: ReadonlyMap<string, { readonly type: string; readonly start: string }> = new Map(
  Object.entries(FIELDS).map(([name, type]) => {
    const wireName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, { type, start: `,${JSON.stringify(wireName)}:` }];
  }),
);

/**
 * @param destination stdout unless given
 * @param milliseconds the wall clock; only tests pass one
 */
export function createLog(
  destination: LogDestination = bufferedStdout(),
  milliseconds: () => number = systemClock.milliseconds,
): Log {
  const timestamp = createTimestamp(milliseconds);
  const write = (level: string, event: string, fields: LogFields | undefined): void => {
    destination.write(lineOf(`{"level":"${level}","time":"${timestamp()}"`, event, fields));
  };
  // Warnings and errors may page an operator, so they do not wait in a buffer. Not in this turn: a
  // `flush` in it would overtake what is being written.
  const urgent =
    (level: string): Log["warn"] =>
    (event, fields) => {
      write(level, event, fields);
      queueMicrotask(() => destination.flush?.());
    };
  return {
    info: (event, fields) => write("info", event, fields),
    warn: urgent("warn"),
    error: urgent("error"),
    flush: () => {
      try {
        destination.flushSync?.();
      } catch {
        // Not open yet, or closed: no place is left to report it.
      }
    },
  };
}

/** The time as `Date.prototype.toISOString` writes it; all but the milliseconds is made once a second. */
function createTimestamp(milliseconds: () => number): () => string {
  let second = Number.NaN;
  let prefix = "";
  return () => {
    const at = milliseconds();
    const rest = at % 1000;
    if (at - rest !== second) {
      second = at - rest;
      prefix = new Date(second).toISOString().slice(0, -"000Z".length);
    }
    return `${prefix}${String(rest).padStart(3, "0")}Z`;
  };
}

/**
 * The line as `JSON.stringify` would give it: the event, then the members of `fields` that are on
 * the list and have the listed type, then the id of the request's trace; strings are truncated and
 * sanitised. Put together here because building an object to be serialized costs twice as much.
 *
 * @param start level and time
 */
//= bar#OB-2
//= bar#TS-17
function lineOf(start: string, event: string, fields: LogFields = {}): string {
  let line = `${start},"event":${jsonText(event)}`;
  for (const name of Object.keys(fields)) {
    const value: unknown = fields[name as LogFieldName];
    const member = MEMBERS.get(name);
    if (member === undefined || typeof value !== member.type) continue;
    if (typeof value === "string") line += member.start + jsonText(value, LONGER[name]);
    else if (typeof value === "boolean" || Number.isFinite(value)) line += `${member.start}${String(value)}`;
  }
  const traceId = requestContext().request?.traceId;
  return traceId === undefined ? `${line}}\n` : `${line},"trace_id":"${traceId}"}\n`;
}

/** Printable ASCII that JSON does not escape, and in which `plainText` has nothing to look for. */
const UNCHANGED = /^[\x20\x21\x24-\x3e\x41-\x5b\x5d-\x7e]*$/;

/**
 * The text as a JSON string: at most 256 characters or as given, no control characters, no query,
 * fragment or user information of a URL. The rule of every value that is written for the operator.
 */
export function jsonText(text: string, longest: number = LONGEST): string {
  return text.length <= longest && UNCHANGED.test(text) ? `"${text}"` : JSON.stringify(plainText(text, longest));
}

const CONTROL_OR_FORMAT = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const QUERY_OR_FRAGMENT = /[?#][^\s"'<>]*=[^\s"'<>]*/g;
const USER_INFORMATION = /\/\/[^\s/@]*@/g;

/**
 * At most 256 characters or as given, no control characters, no query, fragment or user information
 * of a URL.
 */
export function plainText(text: string, longest: number = LONGEST): string {
  return text
    .slice(0, longest)
    .toWellFormed()
    .replace(CONTROL_OR_FORMAT, " ")
    .replace(QUERY_OR_FRAGMENT, "?[cut]")
    .replace(USER_INFORMATION, "//[cut]@");
}

const IDENTIFIER = /^[A-Za-z0-9_.$-]{1,64}$/;
/** Our own errors, whose `detail` is written for the operator's log. */
const OUR_ERRORS: ReadonlySet<string> = new Set(["OAuthError", "TokenStoreError", "EgressError"]);

/**
 * A thrown value as log fields: its name and code, our own `detail`, the names and codes of its
 * causes, why an outbound call failed, and the file and line it came from. Never a message: foreign
 * messages quote URLs, bodies and tokens.
 */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const detail: unknown = OUR_ERRORS.has(error.name) && "detail" in error ? error.detail : undefined;
  return {
    errorName: nameOf(error),
    errorCode: codeOf(error),
    detail: typeof detail === "string" ? detail : undefined,
    causes: causesOf(error),
    outboundError: outboundErrorOf(error),
    stackTop: stackTop(error),
  };
}

function nameOf(error: Error): string {
  return typeof error.name === "string" && IDENTIFIER.test(error.name) ? error.name : "Error";
}

function codeOf(error: Error): string | undefined {
  const code: unknown = "code" in error ? error.code : "kind" in error ? error.kind : undefined;
  return typeof code === "string" && IDENTIFIER.test(code) ? code : undefined;
}

function causesOf(error: Error): string | undefined {
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < 4; cause = cause.cause) {
    const code = codeOf(cause);
    causes.push(code === undefined ? nameOf(cause) : `${nameOf(cause)}(${code})`);
  }
  return causes.length === 0 ? undefined : causes.join(" < ");
}

const MOST_CAUSES = 8;

/**
 * Why an outbound call had no usable answer: `https://vendor.example: CERT_HAS_EXPIRED`. It is
 * beside `detail`, because each error on the way up has its own detail. Never for the caller.
 *
 * @param error what was thrown in the end; undefined when no outbound call is among its causes
 */
//= bar#EG-9
export function outboundErrorOf(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MOST_CAUSES; depth += 1) {
    if (cause.name === "EgressError" && "detail" in cause && typeof cause.detail === "string") return cause.detail;
    cause = cause.cause;
  }
  return undefined;
}

const FRAME = /^ {4}at (?:.* \()?(?:file:\/\/)?((?:node:|\/|[A-Za-z]:\\)[^()]*):(\d+):\d+\)?$/;

/** The first three frames as `folder/file:line`. */
function stackTop(error: Error): string | undefined {
  const frames = framesOf(error)
    .split("\n")
    .map((line) => FRAME.exec(line))
    .flatMap((match) => (match === null ? [] : [`${lastTwo(match[1] ?? "")}:${match[2]}`]));
  return frames.length === 0 ? undefined : frames.slice(0, 3).join(" < ");
}

/**
 * What follows name and message in a stack. A line of the message can look like a frame, so both
 * must be found first.
 */
function framesOf({ stack, message }: Error): string {
  if (typeof stack !== "string" || typeof message !== "string") return "";
  const head = (message === "" ? /^[\w$. [\]]*(?=\n)/ : /^[\w$. [\]]*: /).exec(stack)?.[0];
  return head !== undefined && stack.startsWith(message, head.length) ? stack.slice(head.length + message.length) : "";
}

function lastTwo(path: string): string {
  return path.startsWith("node:") ? path : `${basename(dirname(path))}/${basename(path)}`;
}
