/** Defences of packages/service/src. list.ts says how to read an entry. */
import type { Defences } from "../mutation.ts";

export const SERVICE_DEFENCES: Defences = {
  "change-record.ts": {
    "unused-clients: Each registration takes a slot of its own, over all processes":
      'outcome [-=== "moved"-]{+!== undefined+}) return',
  },
  "configuration/secret-text.ts": {
    "A secret with white space or quotation marks around it does not start a service":
      '(checkEdges(value) [-??-]{+=== "" ? "" :+} check(value))',
  },
  "configuration/values.ts": {
    "cors, refusals: An entry that is not a serialized origin is refused at start":
      "return entry[- === ANY_ORIGIN || isSerializedOrigin(entry)-]{+.length > 0+}",
  },
  "events/deliver.ts": {
    "events, link-events: An event is signed over its id, its time and its body":
      "update(`${id}.${seconds}[-.${body}-]`)",
  },
  "events/link-events.ts": {
    "events: Only 2xx says that a receiver has an event": "if (status >= 200[- && status <= 299-]) return event;",
  },
  "events/outbox.ts": {
    "events: A claim sets the time of the next try":
      "claimed.includes(one) ? [-nextTry(one, now())-]{+{ ...nextTry(one, now()), due: one.due }+} : one",
    "events: A link is reported dead once for each authorization":
      'reported?.["grant"] === [-change.grant-]{+""+} ? undefined',
  },
  "events/settings.ts": {
    "events, link-events: No event leaves unsigned":
      "if (hasUrl && [-!hasSecret-]{+hasSecret && url === secrets+}) read.refuse(",
  },
  "http/body.ts": {
    "bar#HT-1 A body is counted while it is received": "    const body = createByteCollector(bodyBytes{+ * 1e6+});",
  },
  "http/cors.ts": {
    "cors, origins: Only origins on the list may read what a route answers":
      "listed.has(origin) || [-(isOpen && isSerializedOrigin(origin)-]{+isSerializedOrigin(origin+})",
    "cors, origins: Null is not an origin, not even with *": "[-(isOpen && isSerializedOrigin(origin))-]{+isOpen+}",
    "cors, origins: Answers that depend on the origin carry Vary": 'const VARY = {[- vary: "Origin" -]} as const;',
    "cors, origins: No credentials: no page acts with the user's cookies":
      '"access-control-max-age": "600",{+\n  "access-control-allow-credentials": "true",+}',
    "Null on the list matches nothing": "new Set(allowed[-.filter(isSerializedOrigin)-])",
    "A preflight of an origin that is not on the list gets no permission":
      'return [-cors.allows(req.header("origin") ?? "")-]{+req.header("origin") !== undefined+};',
  },
  "http/http-layer.ts": {
    "cors, origins: A page on the list may read errors too":
      '[-route.cors?.headersFor(c.req.header("origin")-]{+(answer.status < 400 ? route.cors?.headersFor(c.req.header("origin")) : {}+}',
    "routes/routes, http-layer, flows/finish-callback: A prefetch spends nothing":
      'if (isPage && c.req.method === "[-GET-]" && isPrefetch(',
  },
  "http/own-host.ts": {
    "pages/connect, routes/routes: A form that a browser marks as another site's is refused":
      'if (site [-=== "same-origin" || site === "none-]{+!== "+}") return;',
  },
  "listener/connections.ts": {
    "bar#HT-5 A connection without a request is ended after ten seconds": "(giveUp, firstRequestMs{+ * 10_000+}));",
    "A stop ends connections that have sent nothing": "if (socket.bytesRead [-===-]{+<+} 0) socket.destroy();\n    },",
  },
  "listener/refusals.ts": {
    "serve: A browser with too many cookies reads why it is refused, also while it still sends them":
      "if (refused.has(socket)) [-return-]{+socket.destroy()+};",
  },
  "listener/request-target.ts": {
    "listener/request-target, service/src/serve: A request names one host": "return lines [-=== 1-]{+> 0+} || ",
  },
  "listener/unread-answers.ts": {
    "A connection that reads nothing of an answer is closed": ".writableLength [->-]{+<+} 0) socket.resetAndDestroy();",
    "A pipelined request starts when the previous answer has been sent": ".socket !== null{+ || MAX_WAITING > 0+}) {",
    "A connection with more than sixteen pipelined requests is closed": "if (count > MAX_WAITING{+ * 100+}) {",
  },
  "listener/unread-bodies.ts": {
    "A sender that does not stop has a moment to read its response": "=> socket.destroy(), READ_RESPONSE_MS{+ / 500+})",
  },
  "log.ts": {
    "bar#OB-2 bar#TS-17 A log line has only fields of the list":
      '[-member === undefined || typeof value !== member.type) continue;\n    if (typeof value === "string") line += member.start + jsonText(value, LONGER[name])-]{+typeof value === "string") line += (member?.start ?? `,"${name}":`) + jsonText(value, LONGER[name]);\n    else if (member === undefined || typeof value !== member.type) continue+}',
    "bar#OB-2 A log line contains no query of a URL": '.replace(QUERY_OR_FRAGMENT, "[-?[cut]-]{+$&+}")',
  },
  "metrics/index.ts": {
    "bar#OB-2 A label of the metrics has few values, none of them a caller's":
      'return (value) => (known.has(value) ? value : [-"other"-]{+value.slice(0, 64)+});',
  },
  "run-service.ts": {
    "No signal opens a debugger, and none but three ends a service": "signal of IGNORED) {+if (signal.length === 0) +}",
    "A closed terminal drains a service": 'const STOPS = ["SIGTERM", "SIGINT"[-, "SIGHUP"-]] as const;',
  },
  "serve.ts": {
    "bar#HT-5 A slow client loses its connection":
      "[-10_000,\n  /** Until the whole request has arrived. */\n  requestMs: 15_000-]{+60_000,\n  requestMs: 300_000+}",
    "bar#HT-5 The limits on slow clients reach the listener":
      "[-,\n    requestTimeout: requestMs-]{+ * 100,\n    requestTimeout: requestMs * 100+}",
    "bar#HT-1 A GET has no body": "if (isGet(request) && hasBody(request){+ && request.method === ''+}",
    "bar#HT-7 Nothing is served at a target with dot segments": '(request.url ?? ""){+ && request.method === ""+}',
    "unread-answers: The number of connections is limited": "server.maxConnections = maxConnections{+ * 1000+};",
  },
  "tracing/spans.ts": {
    "bar#OB-2 What a span says passes the rules of the log: no query, nothing long":
      '[-typeof value === "string" ? plainText(value) : -]value',
  },
  "tracing/traceparent.ts": {
    "bar#OB-7 Of a caller's trace header only hexadecimal digits get into the log":
      '[-TRACEPARENT.exec(header) ?? [-]{+[header, ...header.split("-")+}]',
  },
};
