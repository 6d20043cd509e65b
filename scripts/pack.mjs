// `npm run pack -- FOLDER`: builds every package below packages/ and packs it as it would be
// published, into FOLDER. Prints the path of each tarball, named as npm names them. Turbo repeats
// only what has changed.
import { copyFileSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { root, run } from "./run.mjs";
import { refuse, runScript } from "./usage.mjs";

const ABOUT = {
  program: "npm run pack",
  takes: " -- FOLDER",
  words: true,
  help: "Builds every package below packages/, and packs it into FOLDER as it would be published.",
};

await runScript(ABOUT, ({ words: [folder = "", ...rest] }) => {
  if (folder === "" || rest.length > 0) refuse("it takes one FOLDER", ABOUT);
  // npm starts in the root, whatever folder it was called in.
  const target = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  const flags = ["--filter=./packages/*", "--ui=stream", "--output-logs=errors-only"];
  run("turbo", ["run", "tarball", ...flags], { stdio: "pipe" });
  mkdirSync(target, { recursive: true });
  for (const path of globSync("packages/*/tarball/package.tgz", { cwd: root }).sort()) {
    const manifest = join(root, dirname(path), "..", "package.json");
    const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
    const tarball = join(target, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
    copyFileSync(join(root, path), tarball);
    console.log(tarball);
  }
});
