import { describe, expect, it } from "vitest";
import type { Route } from "../http/http-layer.ts";
import { createLog } from "../log.ts";
import { mounted } from "../testing/mounted.ts";
import { newTraceId, parseTraceparent } from "./traceparent.ts";

// The example of W3C Trace Context, section 3.2.
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID = "00f067aa0ba902b7";
const VALID = `00-${TRACE_ID}-${SPAN_ID}-01`;

const INVALID: readonly (readonly [what: string, header: string])[] = [
  ["nothing", ""],
  ["a space before", ` ${VALID}`],
  ["a space after", `${VALID} `],
  ["a line break", `${VALID}\n`],
  ["a field of the log", `00-${TRACE_ID}-${SPAN_ID}-01","level":"error`],
  ["a line of the log", `${TRACE_ID}"}\n{"level":"error","event":"forged"}`],
  ["upper case", VALID.toUpperCase()],
  ["no hexadecimal digits", VALID.replace("4bf9", "4bg9")],
  ["full-width digits", VALID.replace("4bf9", "４bf9")],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN_ID}-01`],
  ["a parent of zeros", `00-${TRACE_ID}-${"0".repeat(16)}-01`],
  ["a short trace id", `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
  ["a long trace id", `00-${TRACE_ID}0-${SPAN_ID}-01`],
  ["no flags", `00-${TRACE_ID}-${SPAN_ID}`],
  ["short flags", `00-${TRACE_ID}-${SPAN_ID}-1`],
  ["more members in version 00", `${VALID}-00`],
  ["a hyphen at the end of version 00", `${VALID}-`],
  ["version ff", VALID.replace(/^00/, "ff")],
  ["a later version with text behind the flags", `01-${TRACE_ID}-${SPAN_ID}-01x`],
  ["two headers, joined", `${VALID}, ${VALID}`],
  ["two headers of a later version", `cc-${TRACE_ID}-${SPAN_ID}-01-x, ${VALID}`],
  ["more than a later version may have", `cc-${TRACE_ID}-${SPAN_ID}-01-${"x".repeat(201)}`],
  ["megabytes", `00-${"a".repeat(1_000_000)}`],
];

describe("parseTraceparent", () => {
  it.each([
    ["the example of the standard", VALID, 1],
    ["a trace that is not recorded", VALID.replace(/01$/, "00"), 0],
    ["flags that are not known yet", VALID.replace(/01$/, "ff"), 255],
    ["a later version", VALID.replace(/^00/, "01"), 1],
    ["a later version with more members", `cc-${TRACE_ID}-${SPAN_ID}-01-what-the.future/holds`, 1],
  ])("accepts %s", (_, header, flags) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, flags });
  });

  it.each(INVALID)("bar#OB-7 refuses %s", (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it("has nothing to read without a header", () => {
    expect(parseTraceparent(undefined)).toBeUndefined();
  });
});

it("a new trace id is valid, and another each time", () => {
  const ids = Array.from({ length: 100 }, newTraceId);
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(parseTraceparent(`00-${id}-${SPAN_ID}-01`)).toMatchObject({ traceId: id });
});

interface Line {
  readonly event: string;
  readonly trace_id?: string;
}

const serve = (handle: Route["handle"]) => mounted([{ method: "GET", path: "/", surface: "api", handle }]);

const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

describe("the lines of a request", () => {
  it("have the caller's trace id, those written deep inside too, and Trace has it", async () => {
    const lines: string[] = [];
    const inner = createLog({ write: (line) => void lines.push(line) });
    const { app, lines: own } = serve(async (_, trace) => {
      await new Promise((resolve) => setImmediate(resolve));
      inner.info("inside", { clientId: trace.traceId });
      return { status: 204, headers: {}, body: null };
    });
    await app.request("/", { headers: { traceparent: VALID } });
    inner.info("outside");
    expect(parsed(own)).toMatchObject([{ event: "request", trace_id: TRACE_ID }]);
    expect(parsed(lines)).toMatchObject([{ event: "inside", client_id: TRACE_ID, trace_id: TRACE_ID }, {}]);
    expect(parsed(lines)[1]).not.toHaveProperty("trace_id");
  });

  it("of requests at the same time keep their own", async () => {
    const gate = Promise.withResolvers<void>();
    const { app, lines } = serve(async () => {
      await gate.promise;
      return { status: 204, headers: {}, body: null };
    });
    const ids = Array.from({ length: 20 }, newTraceId);
    const sent = ids.map(async (id) => app.request("/", { headers: { traceparent: `00-${id}-${SPAN_ID}-00` } }));
    gate.resolve();
    await Promise.all(sent);
    expect(parsed(lines).map(({ trace_id: id }) => id)).toEqual(ids);
  });

  it.each(INVALID.filter(([, header]) => /^[\x20-\x7e]*$/.test(header) && header.trim() !== VALID))(
    "bar#OB-7 take nothing of a header with %s",
    async (_, header) => {
      const { app, lines } = serve(() => ({ status: 204, headers: {}, body: null }));
      await app.request("/", { headers: { traceparent: header } });
      expect(lines.join("").split("\n")).toHaveLength(2);
      const [line] = parsed(lines);
      expect(line).toMatchObject({ event: "request", level: "info" });
      expect(line?.trace_id).toMatch(/^[0-9a-f]{32}$/);
      expect(line?.trace_id).not.toBe(TRACE_ID);
    },
  );
});
