// `npm run site`: the documentation as a site in site/dist. Opt-in, because VitePress and what it needs
// are 100 MB that nothing else uses: npm installs them from site/package-lock.json. Fails on a link to
// a page that does not exist.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./run.mjs";
import { runScript } from "./usage.mjs";

const ABOUT = {
  program: "npm run site",
  takes: " [-- --serve]",
  options: { serve: { type: "boolean", default: false } },
  help: `Builds the documentation as a site in site/dist, and checks the links between its pages.

  --serve          then serves it on this machine`,
};

await runScript(ABOUT, ({ values }) => {
  const site = join(root, "site");
  const npm = (...args) => run("npm", args, { cwd: site });
  if (!existsSync(join(site, "node_modules", "vitepress"))) npm("ci", "--no-audit", "--no-fund", "--ignore-scripts");
  npm("exec", "--no", "--", "vitepress", "build", ".");
  if (values.serve) npm("exec", "--no", "--", "vitepress", "preview", ".");
});
