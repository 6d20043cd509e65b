/**
 * Where the CPU of a profile went, by the package or folder of the bundle whose code ran, or for
 * which Node ran.
 */
import type { Profiler } from "node:inspector";

/** As `node --cpu-prof` writes it. */
export type CpuProfile = Pick<Profiler.Profile, "nodes" | "samples" | "timeDeltas">;
type Node = CpuProfile["nodes"][number];

/** The line above each module in a bundle of Rolldown. */
const MODULE = /^\t*\/\/ (\.\.\/\.\.\/)?(\S+\.[cm]?[jt]s)$/;
const SOCKET_WRITES = new Set(["writeUtf8String", "writeLatin1String", "writeBuffer", "writev"]);

/**
 * @param bundle the text of the file that ran, named `main.js`
 * @returns the share of each part of the time in which the process was not idle, the largest first
 */
export function partsOf({ nodes, samples = [], timeDeltas = [] }: CpuProfile, bundle: string) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const modules = modulesOf(bundle);
  /** The module of the node, or of the nearest that called it. */
  const moduleOf = (node: Node): string | undefined => {
    const { url, lineNumber } = node.callFrame;
    const parent = parents.get(node.id);
    return (url.endsWith("/main.js") ? modules[lineNumber] : undefined) ?? (parent && moduleOf(parent));
  };
  const times = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    const time = timeDeltas[index] ?? 0;
    if (node === undefined || node.callFrame.functionName === "(idle)") continue;
    const part = partOfNode(node) ?? partOfModule(moduleOf(node));
    times.set(part, (times.get(part) ?? 0) + time);
    busy += time;
  }
  return [...times].map(([part, time]) => ({ part, share: time / busy })).toSorted((a, b) => b.share - a.share);
}

/** Parts of one percent and more. */
export function partsTable(name: string, parts: ReturnType<typeof partsOf>): string {
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

function partOfModule(path: string | undefined): string {
  if (path === undefined) return "Node itself";
  const [dependency] = /^(?:@[^/]+\/)?[^/]+/.exec(path.split("node_modules/").at(-1) ?? "") ?? [];
  if (path.includes("node_modules/") && dependency !== undefined) return dependency;
  return path.split("/").slice(0, -1).slice(0, 4).join("/");
}
