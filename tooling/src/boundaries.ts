/**
 * The structural rules of docs/design: which folder may import which, and where each thing that touches the world may
 * stand. The tables below are the rules; the functions only apply them. To permit something, add a line to a table and
 * say why. Run by `npm run check`, and by boundaries.test.ts on the repository itself.
 */
import { posix } from "node:path";
import type { SourceFile } from "./sources.ts";
import type { Import } from "./syntax.ts";

export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
  /** Shown, but no failure. */
  readonly warning?: true;
}

const CORE_ENTRY = "packages/oauth-core/src/index.ts";

/**
 * Zones, most specific first, and what product code of each may import. Its own zone is always allowed; tests and
 * testing/ may import anything.
 */
const ZONES: readonly { readonly zone: string; readonly files: RegExp; readonly mayImport: readonly string[] }[] = [
  { zone: "ports", files: /^packages\/oauth-core\/src\/ports\.ts$/, mayImport: [] },
  { zone: "protocol", files: /^packages\/oauth-core\/src\/protocol\//, mayImport: ["ports"] },
  { zone: "vendors", files: /^packages\/oauth-core\/src\/vendors\//, mayImport: ["ports", "protocol"] },
  {
    zone: "vendor-client",
    files: /^packages\/oauth-core\/src\/vendor-client\//,
    mayImport: ["ports", "protocol", "vendors"],
  },
  {
    zone: "authorization-server",
    files: /^packages\/oauth-core\/src\/authorization-server\//,
    mayImport: ["ports", "protocol", "vendors", "vendor-client"],
  },
  {
    zone: "hono",
    files: /^packages\/oauth-core\/src\/hono\//,
    mayImport: ["ports", "protocol", "vendors", "vendor-client", "authorization-server"],
  },
  {
    zone: "core index",
    files: /^packages\/oauth-core\/src\/[^/]+$/,
    mayImport: ["ports", "protocol", "vendors", "vendor-client", "authorization-server"],
  },
  // Types only: see TYPES_ONLY.
  { zone: "token-store", files: /^packages\/token-store\//, mayImport: ["core index"] },
  {
    zone: "mcp-auth",
    files: /^packages\/mcp-auth\//,
    mayImport: ["token-store", "core index", "hono", "vendor-client"],
  },
  { zone: "broker-client", files: /^packages\/broker-client\//, mayImport: ["core index", "vendor-client"] },
  { zone: "simulators", files: /^packages\/simulators\//, mayImport: [] },
  {
    zone: "sandbox",
    files: /^apps\/[^/]+\/src\/sandbox\.ts$/,
    mayImport: ["app", "simulators", "mcp-auth", "broker-client", "token-store", "core index", "hono", "vendor-client"],
  },
  {
    zone: "app",
    files: /^apps\//,
    mayImport: ["sandbox", "mcp-auth", "broker-client", "token-store", "core index", "hono", "vendor-client"],
  },
];

/** Arrows that only types may travel, and the values excepted. OAuthError: the ports say that adapters throw it. */
const TYPES_ONLY: readonly { readonly from: string; readonly to: string; readonly except: ReadonlySet<string> }[] = [
  { from: "token-store", to: "core index", except: new Set(["OAuthError"]) },
];

/** Zones that load only on demand: `import()` of them is fine, a static import of values is not. */
const ON_DEMAND: readonly string[] = ["simulators"];

/** What the packages' root entries must not reach, over any number of imports. */
const UNREACHABLE: readonly { readonly entry: string; readonly specifier: RegExp }[] = [
  { entry: CORE_ENTRY, specifier: /^@?hono(\/|$)/ },
  { entry: CORE_ENTRY, specifier: /^(node:sqlite|@aws-sdk\/.*)$/ },
];

interface Confined {
  readonly rule: string;
  readonly what: RegExp;
  readonly allowed: readonly RegExp[];
  readonly instead: string;
}

const EGRESS = /^packages\/oauth-core\/src\/vendor-client\/egress[^/]*\.ts$/;
/** Listens; opens nothing outbound. */
const SERVES = /^apps\/[^/]+\/src\/(main|serve)\.ts$/;

/** External modules and the files that may import them. Type imports are free. */
const CONFINED_MODULES: readonly Confined[] = [
  {
    rule: "hono stays at the rim",
    what: /^(hono|@hono\/.*)(\/|$)/,
    allowed: [
      /^packages\/(oauth-core|mcp-auth)\/src\/hono\//,
      /^apps\/[^/]+\/src\/(app|main|serve)\.ts$/,
      /^apps\/[^/]+\/src\/(routes|pages)\//,
    ],
    instead: "decide in a function of plain values and call it from hono/, app.ts or routes/",
  },
  {
    rule: "only egress opens connections",
    what: /^(undici|axios|(node:)?(net|tls|http|https|http2|dgram|dns|dns\/promises))$/,
    allowed: [EGRESS, SERVES],
    instead: "take a Fetch as dependency; vendor-client/egress.ts makes it",
  },
  {
    rule: "only the adapters import the AWS SDK",
    what: /^@aws-sdk\//,
    allowed: [/\/records\/dynamodb\.ts$/, /\/keys\/kms\.ts$/],
    instead: "use RecordStore or KeyWrapper",
  },
  {
    rule: "only records/sqlite.ts imports node:sqlite",
    what: /^node:sqlite$/,
    allowed: [/\/records\/sqlite(-[a-z]+)?\.ts$/],
    instead: "use RecordStore",
  },
  {
    rule: "only config.ts reads process.env",
    what: /^(node:)?process$/,
    allowed: [],
    instead: "use the global `process`, so that this rule sees it",
  },
];

/** Names that read an address or compare one, and open nothing. */
const PURE_NAMES: ReadonlySet<string> = new Set(["isIP", "isIPv4", "isIPv6", "BlockList", "SocketAddress"]);

/** Globals and the files that may use them. */
const CONFINED_GLOBALS: readonly Confined[] = [
  {
    rule: "only config.ts reads process.env",
    what: /^process(\.env\b|$)/,
    allowed: [/^apps\/[^/]+\/src\/config\.ts$/],
    instead: "take the value from Config",
  },
  {
    rule: "only egress opens connections",
    what: /^(fetch|WebSocket|EventSource)$/,
    allowed: [EGRESS],
    instead: "take a Fetch as dependency",
  },
  {
    rule: "time comes from a Clock",
    what: /^(Date\.now|new Date\(\))$/,
    allowed: [/(^|\/)clock\.ts$/],
    instead: "take a Clock as dependency",
  },
  {
    rule: "no console",
    what: /^console(\.|$)/,
    allowed: [],
    instead: "log through log.ts, or write to process.stderr",
  },
];

/** Redirects are 303: a 307 or 308 would send the browser's POST body on. */
const FORBIDDEN_NUMBERS: ReadonlySet<string> = new Set(["307", "308"]);

const MAX_LINES = 400;
const MANY_LINES = 250;

/** @param entries package name and entry ("@oauth-broker/oauth-core/hono") → path of the file it exports */
export function checkBoundaries(files: readonly SourceFile[], entries: ReadonlyMap<string, string>): Violation[] {
  const target = (file: SourceFile, { specifier }: Import): string | undefined =>
    specifier.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : entries.get(specifier);
  return [
    ...files.flatMap((file) => [...arrows(file, target), ...confined(file), ...size(file)]),
    ...reachable(files, target),
  ];
}

type Target = (file: SourceFile, one: Import) => string | undefined;

const zoneOf = (path: string): (typeof ZONES)[number] | undefined => ZONES.find(({ files }) => files.test(path));

const isForTests = (path: string): boolean => path.includes("/testing/");

function arrows(file: SourceFile, target: Target): Violation[] {
  const from = zoneOf(file.path);
  if (file.kind === "test" || isForTests(file.path) || from === undefined) return [];
  return file.imports.flatMap((one) => {
    const path = target(file, one);
    if (path === undefined) return [];
    const to = zoneOf(path);
    const refuse = (message: string): Violation[] => [
      { rule: "arrows", path: file.path, line: one.line, message: `${message} (${one.specifier})` },
    ];
    if (isForTests(path)) return refuse("this is for tests only");
    if (to === undefined || to === from) return [];
    if (!from.mayImport.includes(to.zone)) return refuse(`${from.zone} must not import ${to.zone}`);
    const typesOnly = TYPES_ONLY.find((arrow) => arrow.from === from.zone && arrow.to === to.zone);
    if (typesOnly !== undefined && !one.values.every((name) => typesOnly.except.has(name))) {
      return refuse(`${from.zone} may import only types of ${to.zone}`);
    }
    if (ON_DEMAND.includes(to.zone) && !one.dynamic && one.values.length > 0) {
      return refuse(`${to.zone} is loaded by import() only`);
    }
    return [];
  });
}

function confined(file: SourceFile): Violation[] {
  if (file.kind !== "product") return [];
  const found = (rule: Confined, line: number, what: string): Violation[] =>
    rule.what.test(what) && !rule.allowed.some((allowed) => allowed.test(file.path))
      ? [{ rule: rule.rule, path: file.path, line, message: `${what} does not belong here: ${rule.instead}` }]
      : [];
  const opens = ({ values }: Import): boolean => !values.every((name) => PURE_NAMES.has(name));
  return [
    ...file.imports
      .filter(opens)
      .flatMap((one) => CONFINED_MODULES.flatMap((rule) => found(rule, one.line, one.specifier))),
    ...file.globals.flatMap(({ text, line }) => CONFINED_GLOBALS.flatMap((rule) => found(rule, line, text))),
    ...file.numbers
      .filter(({ text }) => FORBIDDEN_NUMBERS.has(text))
      .map(({ text, line }) => ({
        rule: "redirects are 303",
        path: file.path,
        line,
        message: `${text} would forward a POST body`,
      })),
  ];
}

function size(file: SourceFile): Violation[] {
  const lines = file.text.trimEnd().split("\n").length;
  if (lines <= MANY_LINES) return [];
  const at = {
    rule: "short files",
    path: file.path,
    line: lines,
    message: `${lines} lines: a step wants its own file`,
  };
  return [lines > MAX_LINES ? at : { ...at, warning: true }];
}

function reachable(files: readonly SourceFile[], target: Target): Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return UNREACHABLE.flatMap(({ entry, specifier }) => {
    const seen = new Set<string>([entry]);
    const violations: Violation[] = [];
    for (const path of seen) {
      const file = byPath.get(path);
      for (const one of file?.imports ?? []) {
        if (file === undefined || one.values.length === 0) continue;
        if (specifier.test(one.specifier)) {
          violations.push({
            rule: "root entry",
            path,
            line: one.line,
            message: `${entry} reaches ${one.specifier} through this import`,
          });
        }
        const next = target(file, one);
        if (next !== undefined) seen.add(next);
      }
    }
    return violations;
  });
}
