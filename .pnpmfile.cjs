// The node-* packages name their platform as a string. pnpm reads arrays only and would bring other platforms' Node too.
const asArray = (value) => (typeof value === "string" ? [value] : value);

module.exports = {
  hooks: {
    readPackage: (manifest) =>
      manifest.name?.startsWith("node-")
        ? { ...manifest, os: asArray(manifest.os), cpu: asArray(manifest.cpu) }
        : manifest,
  },
};
