/**
 * The metrics of a deployed server: those of every service, and its calls, questions, vendors'
 * answers, storage and keys, by vendor, never by user or client. Loads its library, so start.ts
 * imports it only if `METRICS_PORT` is set; what is logged of calls and storage is counted here.
 */
import {
  createServiceMetrics,
  knownLabel,
  type LabelRule,
  outcomeLabel,
  type ServiceMetrics,
} from "@oauth-broker/service/metrics";
import type { Log, LogFields } from "@oauth-broker/service";
import type { StorageTiming } from "@oauth-broker/token-store";
import type { ServerDefinition } from "../server.ts";
import type { Settings } from "../settings.ts";

export interface ServerMetrics extends ServiceMetrics {
  /** @returns a log by which calls of tools, their stray rejections, and questions to users are counted */
  countCalls(log: Log): Log;
  /** @returns a log that also counts the events of the token store */
  countStorageEvents(log: Log): Log;
  /** @param status of a vendor's API to a tool; undefined when it did not answer */
  countApiAnswer(vendor: string, status: number | undefined): void;
  timeStorage(timing: StorageTiming): void;
}

export function createServerMetrics({ tools }: Pick<ServerDefinition, "tools">, settings: Settings): ServerMetrics {
  const vendors = vendorsOf(settings);
  const vendor = knownLabel(vendors);
  const base = createServiceMetrics({ prefix: "mcp", vendors });
  const countCall = base.counter(
    "tool_calls_total",
    "Calls of tools, by what came of them, and their promises that failed unawaited",
    {
      tool: knownLabel(tools.map(({ name }) => name)),
      vendor: everyPart(vendors),
      outcome: outcomeLabel(),
    },
  );
  const countElicitation = base.counter("elicitations_total", "Users asked to link a vendor, by how they were asked", {
    vendor,
    mode: outcomeLabel(),
  });
  const countStorageEvent = base.counter("storage_events_total", "Events of the token store", {
    vendor: everyPart(vendors),
    event: outcomeLabel(),
  });
  const countApi = base.counter("vendor_api_answers_total", "Answers of vendors' APIs to tools", {
    vendor,
    status: outcomeLabel(),
  });
  const storage = { operation: (name: string): string => name, outcome: outcomeLabel() };
  const timeStore = base.timer("store_duration_seconds", "Calls to the table or file", {
    store: (part: string): string => part,
    ...storage,
  });
  const timeKeys = base.timer("key_duration_seconds", "Calls to the key service or key file", storage);
  return {
    ...base,
    countCalls: (log) =>
      observeLog(log, (event, { tool = "", vendor: named = NONE, reason = "ok", mode = "" }) => {
        if (event === "tool_call" || event === "tool_rejection") countCall({ tool, vendor: named, outcome: reason });
        if (event === "link_asked") countElicitation({ vendor: named, mode });
      }),
    countStorageEvents: (log) =>
      observeLog(log, (event, { vendor: named = NONE, count }) => {
        if (count !== 0) countStorageEvent({ vendor: named, event });
      }),
    countApiAnswer: (named, status) =>
      countApi({ vendor: named, status: status === undefined ? "none" : `${Math.floor(status / 100)}xx` }),
    timeStorage: ({ part, operation, seconds, outcome }) => {
      if (part === "keys") timeKeys({ operation, outcome }, seconds);
      else timeStore({ store: part, operation, outcome }, seconds);
    },
  };
}

/** The label of a call that names no vendor. */
const NONE = "none";

/** Ids as listed in the settings, and as the registry has them: an alias may be either. */
function vendorsOf(settings: Settings): readonly string[] {
  const vendors = settings.mode === "hosted" ? settings.links.vendors : [];
  const linked = [...vendors].flatMap(([id, { vendor }]) => [id, vendor.id]);
  return [...new Set([settings.vendor.vendor.id, ...linked])];
}

/** `github,slack` of a tool that names both. */
function everyPart(vendors: readonly string[]): LabelRule {
  const known = new Set([...vendors, NONE]);
  return (value) => (value.split(",").every((part) => known.has(part)) ? value : "other");
}

type Observe = (event: string, fields: LogFields) => void;

function observeLog(log: Log, observe: Observe): Log {
  const also =
    (level: "info" | "warn" | "error"): Log["info"] =>
    (event, fields = {}) => {
      observe(event, fields);
      log[level](event, fields);
    };
  return { ...log, info: also("info"), warn: also("warn"), error: also("error") };
}
