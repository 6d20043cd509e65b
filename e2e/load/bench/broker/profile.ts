/**
 * Where the CPU of a profile went, by the package or folder of the bundle whose code ran, or for
 * which Node ran.
 */

/** A profile as `node --cpu-prof` writes it. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** Microseconds, one for each sample. */
  readonly timeDeltas: readonly number[];
}

export interface PartOfProfile {
  readonly part: string;
  /** The share of the time in which the process was not idle. */
  readonly share: number;
}

type Node = CpuProfile["nodes"][number];

/** The line above each module in a bundle of Rolldown. */
const MODULE = /^\t*\/\/ (\.\.\/\.\.\/)?(\S+\.[cm]?[jt]s)$/;
const SOCKET_WRITES = new Set(["writeUtf8String", "writeLatin1String", "writeBuffer", "writev"]);

/**
 * @param bundle the text of the file that ran, named `main.js`
 * @returns the largest first
 */
export function partsOf({ nodes, samples, timeDeltas }: CpuProfile, bundle: string): readonly PartOfProfile[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const modules = modulesOf(bundle);
  const moduleOf = ({ callFrame: { url, lineNumber } }: Node): string | undefined =>
    url.endsWith("/main.js") ? modules[lineNumber] : undefined;
  const times = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    const time = timeDeltas[index] ?? 0;
    if (node === undefined || node.callFrame.functionName === "(idle)") continue;
    const part = partOfNode(node) ?? partOfModule(nearest(node, parents, moduleOf));
    times.set(part, (times.get(part) ?? 0) + time);
    busy += time;
  }
  return [...times].map(([part, time]) => ({ part, share: time / busy })).toSorted((a, b) => b.share - a.share);
}

/** Parts of one percent and more. */
export function partsTable(name: string, parts: readonly PartOfProfile[]): string {
  const shown = parts.filter(({ share }) => share >= 0.01);
  const rest = parts.reduce((sum, { share }) => (share < 0.01 ? sum + share : sum), 0);
  const lines = [...shown, { part: "the rest", share: rest }].map(
    ({ part, share }) => `${(share * 100).toFixed(1).padStart(6)} %  ${part}`,
  );
  return [`where the CPU went, ${name}:`, ...lines].join("\n");
}

/** The module of each line, by its path from the root. */
function modulesOf(bundle: string): readonly (string | undefined)[] {
  let current: string | undefined;
  return bundle.split("\n").map((line) => {
    const [, up, path] = MODULE.exec(line) ?? [];
    if (path !== undefined) current = up === undefined ? `apps/broker/${path}` : path;
    return current;
  });
}

/** What is the same for every caller. */
function partOfNode({ callFrame: { functionName, url } }: Node): string | undefined {
  if (url === "" && SOCKET_WRITES.has(functionName)) return "writing to sockets";
  if (functionName === "(garbage collector)") return "garbage collection";
  if (url.startsWith("node:internal/crypto/")) return "hashes, ciphers, random values";
  return undefined;
}

function nearest(
  node: Node,
  parents: ReadonlyMap<number, Node>,
  moduleOf: (node: Node) => string | undefined,
): string | undefined {
  for (let at: Node | undefined = node; at !== undefined; at = parents.get(at.id)) {
    const found = moduleOf(at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function partOfModule(path: string | undefined): string {
  if (path === undefined) return "Node itself";
  const [dependency] = /^(?:@[^/]+\/)?[^/]+/.exec(path.split("node_modules/").at(-1) ?? "") ?? [];
  if (path.includes("node_modules/") && dependency !== undefined) return dependency;
  return path.split("/").slice(0, -1).slice(0, 4).join("/");
}
