/**
 * The structural rules, as tables: which folder may import which, and where access to the outside
 * is allowed. To permit something, add a line here with the reason. boundaries.ts applies the
 * tables; boundaries.test.ts plants a violation of each. Globals, timers and the length of a file
 * are rules of .oxlintrc.json.
 */

const CORE = "packages/oauth-core/src";
const SERVICE = "packages/service/src";
const CORE_ENTRIES = ["index", "protocol/index", "registry/index", "vendor-client/index", "authorization-server/index"];

const OF_SERVICE = "service service-page service-http service-tracing service-events configuration metrics";
/** What an app may take of oauth-core, and the frame it runs in. */
const CORE_AND_SERVICE = `core-index command-line protocol registry vendor-client authorization-server brokered-code http egress ${OF_SERVICE}`;

/**
 * Zones, most specific first: how the paths of its files begin, and what product code of it may
 * import. Its own zone is always allowed; tests and testing/ may import anything.
 */
const TABLE: readonly (readonly [zone: string, begin: string, mayImport: string])[] = [
  ["ports", `${CORE}/ports.ts`, ""],
  // Nothing about OAuth: small additions to libraries and the language, with our Clock and our
  // limits.
  ["command-line", `${CORE}/mechanics/command-line.ts`, "mechanics"],
  ["mechanics", `${CORE}/mechanics/`, "ports"],
  ["protocol", `${CORE}/protocol/`, "ports mechanics"],
  ["registry", `${CORE}/registry/`, "ports mechanics protocol"],
  // The only folder that opens connections: see EGRESS.
  ["egress", `${CORE}/egress/`, "ports mechanics protocol"],
  ["vendor-client", `${CORE}/vendor-client/`, "ports mechanics protocol registry egress"],
  ["authorization-server", `${CORE}/authorization-server/`, "ports mechanics protocol registry vendor-client"],
  ["http", `${CORE}/http/`, "ports mechanics protocol registry vendor-client authorization-server"],
  // The engine of both apps.
  [
    "brokered-code",
    `${CORE}/brokered-code/`,
    "ports mechanics protocol registry vendor-client authorization-server http",
  ],
  ["core-index", `${CORE}/[^/]+$`, "ports mechanics protocol"],
  // The configuration of a service or a command: plain values in, values or problems out.
  ["configuration", `${SERVICE}/configuration/`, "core-index"],
  // The OpenTelemetry SDK: see ON_DEMAND.
  ["span-exporter", `${SERVICE}/tracing/exporter.ts`, "configuration service"],
  // It watches the calls of a vendor client that an app has made.
  ["service-tracing", `${SERVICE}/tracing/`, "core-index vendor-client configuration service span-exporter"],
  // What it sends leaves by an egress.
  ["service-events", `${SERVICE}/events/`, "core-index egress configuration service"],
  ["service-http", `${SERVICE}/http/`, "core-index protocol http configuration service service-page service-tracing"],
  // Only types of the others.
  ["metrics", `${SERVICE}/metrics/`, "service-http service-tracing"],
  ["service-page", `${SERVICE}/page.ts`, ""],
  // The process, its log and the listening socket.
  ["service", "packages/service/", "core-index http configuration service-page"],
  // Ports, errors, secrets and mechanics: nothing in it is about OAuth.
  ["token-store", "packages/token-store/", "core-index command-line"],
  // `npm run dev` and `npm run build` of a server; nothing else loads the simulators, which are a
  // dev dependency.
  [
    "dev",
    "packages/mcp-auth/src/dev/",
    `mcp-auth core-index command-line protocol registry vendor-client egress simulators ${OF_SERVICE}`,
  ],
  ["mcp-auth", "packages/mcp-auth/", `token-store ${CORE_AND_SERVICE}`],
  // The registry and the checks of the settings; they are written into projects and never loaded
  // with a server.
  ["create-server", "packages/create-server/", "mcp-auth core-index command-line protocol registry configuration"],
  ["broker-client", "packages/broker-client/", "core-index protocol registry vendor-client brokered-code egress"],
  // Records the vendors' answers to the vendor client; the simulators themselves are independent of
  // our code.
  ["fixtures", "packages/simulators/src/fixtures/", "core-index protocol registry vendor-client brokered-code"],
  // Reads the registry's data as text, by its types alone: see UNREACHABLE.
  ["entry-vendor", "packages/simulators/src/entry-vendor/", "simulators registry"],
  ["simulators", "packages/simulators/", ""],
  // The reference platform: the broker's other side, which imports nothing of the broker.
  ["platform-simulators", "apps/platform/src/sandbox.ts", "platform simulators"],
  ["platform", "apps/platform/", `platform-simulators broker-client token-store ${CORE_AND_SERVICE}`],
  ["sandbox", "apps/[^/]+/src/sandbox.ts", `app simulators platform mcp-auth token-store ${CORE_AND_SERVICE}`],
  // Programs as others write them: what is published, and no other folder of this repository.
  ["examples", "examples/", "broker-client mcp-auth"],
  ["app", "apps/", `sandbox mcp-auth broker-client token-store ${CORE_AND_SERVICE}`],
];

export const ZONES: readonly {
  readonly zone: string;
  readonly files: RegExp;
  readonly mayImport: readonly string[];
}[] = TABLE.map(([zone, begin, mayImport]) => ({
  zone,
  files: new RegExp(`^${begin}`),
  mayImport: mayImport.split(" "),
}));

/**
 * Zones that load only on demand: `import()` of them is fine, a static import of values from
 * outside of them is not.
 */
export const ON_DEMAND: readonly string[] = [
  "simulators",
  "entry-vendor",
  "platform",
  "platform-simulators",
  "span-exporter",
];

/** What the entries of packages must not load, over any number of imports. */
export const UNREACHABLE: readonly { readonly entry: string; readonly specifier: RegExp }[] = [
  ...CORE_ENTRIES.map((entry) => ({ entry: `${CORE}/${entry}.ts`, specifier: /^(@?hono|node:sqlite|@aws-sdk)(\/|$)/ })),
  // Runs on Node 20, which is too old for oauth-core and undici.
  { entry: "packages/broker-client/src/index.ts", specifier: /^(@oauth-broker\/|undici|node:)/ },
  // With the registry's own code it would share its mistakes.
  { entry: "packages/simulators/src/entry-vendor/index.ts", specifier: /oauth-core/ },
];

export interface Confined {
  readonly rule: string;
  readonly what: RegExp;
  readonly allowed: readonly RegExp[];
  readonly instead: string;
}

const EGRESS = /^packages\/oauth-core\/src\/egress\/[^/]+\.ts$/;
/** Listens; opens no outbound connection. */
const SERVES = /^packages\/service\/src\/serve\.ts$/;
/**
 * Streams, which egress cannot: event streams pass here. Reaches only the loopback address of a
 * deployed server.
 */
const FORWARDS = /^apps\/platform\/src\/ingress\/forward\.ts$/;

/** External modules and the files that may import them. Type imports are free. */
export const CONFINED_MODULES: readonly Confined[] = [
  {
    rule: "hono stays in the HTTP layer",
    what: /^(hono|@hono\/.*)(\/|$)/,
    allowed: [
      /^packages\/service\/src\//,
      /^(apps|packages)\/[^/]+\/src\/app\.ts$/,
      /^apps\/[^/]+\/src\/(routes|pages)\//,
    ],
    instead: "decide in a function of plain values and call it from http/, app.ts or routes/",
  },
  {
    rule: "only egress opens connections",
    what: /^(undici|axios|(node:)?(net|tls|http|https|http2|dgram|dns|dns\/promises))$/,
    allowed: [EGRESS, SERVES, FORWARDS],
    instead: "take a Fetch as dependency; egress/index.ts makes it",
  },
  {
    rule: "only the adapters import the AWS SDK",
    what: /^@aws-sdk\//,
    allowed: [/\/storage\/dynamodb\/table\.ts$/, /\/keys\/kms\.ts$/],
    instead: "use RecordStore or KeyWrapper",
  },
  {
    rule: "only storage/sqlite imports node:sqlite",
    what: /^node:sqlite$/,
    allowed: [/\/storage\/sqlite\/[a-z-]+\.ts$/],
    instead: "use RecordStore",
  },
  {
    rule: "only the span exporter imports the OpenTelemetry SDK",
    what: /^@opentelemetry\/(?!api$)/,
    allowed: [/^packages\/service\/src\/tracing\/exporter\.ts$/],
    instead: "use @opentelemetry/api",
  },
  {
    rule: "only config.ts reads process.env",
    what: /^(node:)?process$/,
    allowed: [],
    instead: "use the global `process`, so that oxlint's rule sees it",
  },
];

/** Names that read or compare an address and open nothing. */
export const PURE_NAMES: ReadonlySet<string> = new Set(["isIP", "isIPv4", "isIPv6", "BlockList", "SocketAddress"]);

/** Globals as oxlint's rules, in .oxlintrc.json, do not see them. */
export const CONFINED_GLOBALS: readonly Confined[] = [
  {
    rule: "only config.ts reads process.env",
    what: /^process$/,
    allowed: [/^(apps|packages)\/[^/]+\/src\/config\.ts$/],
    instead: "take the value from Config",
  },
  { rule: "time comes from a Clock", what: /^new Date\(\)$/, allowed: [], instead: "take a Clock as dependency" },
];

export const CONFINED_NUMBERS: readonly Confined[] = [
  { rule: "redirects are 303", what: /^30[78]$/, allowed: [], instead: "it would forward a POST body" },
];

/**
 * The limit of files per folder, tests not counted. A vendor is one file, and so are its simulator
 * and the list of mutations for one subject.
 */
export const MAX_FILES = 12;
export const MAY_BE_LARGE =
  /^packages\/oauth-core\/src\/registry\/first-class$|^packages\/simulators\/|^tooling\/src\/mutate\/list$/;
