// `npm run site`: the documentation as a site in site/dist. Opt-in, because VitePress and what it needs
// are 100 MB that nothing else uses: npm installs them from site/package-lock.json. Fails on a link to
// a page that does not exist.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readOptions } from "./usage.mjs";

const { values } = readOptions({
  program: "npm run site",
  takes: " [-- --serve]",
  options: { serve: { type: "boolean", default: false } },
  help: `Builds the documentation as a site in site/dist, and checks the links between its pages.

  --serve          then serves it on this machine`,
});

const site = fileURLToPath(new URL("../site", import.meta.url));
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: site, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(1);
}

if (!existsSync(join(site, "node_modules", "vitepress")))
  run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts");
run("npm", "exec", "--no", "--", "vitepress", "build", ".");
if (values.serve) run("npm", "exec", "--no", "--", "vitepress", "preview", ".");
