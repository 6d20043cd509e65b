// `npm run test:runtimes`: broker-client on Bun, Deno and workerd (Cloudflare's runtime) beside
// Node.js: a whole request, a broker that refuses connections, one that hangs up. Opt-in: npm brings
// the three runtimes, some 350 MB, into node_modules/.cache once. Nothing but loopback is used. The
// last line is `N passed, N failed`.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../e2e/support/free-port.ts";
import { startScriptedVendor } from "../packages/simulators/src/scripted-vendor.ts";
import { readOptions } from "./usage.mjs";

const VERSIONS = { bun: "1.4.5", deno: "2.9.6", workerd: "1.20261117.1" };
readOptions({
  program: "npm run test:runtimes",
  help: `Tests broker-client on Bun ${VERSIONS.bun}, Deno ${VERSIONS.deno} and workerd ${VERSIONS.workerd}. npm installs them into
node_modules/.cache, once (350 MB).`,
});

const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules", ".cache", "runtimes");
const PROGRAMS = join(root, "e2e", "support", "packages");
/** Slow machines start a runtime slowly. */
const WITHIN_MS = 60_000;

/** Without their install scripts: the binaries are in packages of their own. */
function bring() {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies: VERSIONS }));
  const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const { status } = spawnSync("npm", install, { cwd: cache, stdio: "inherit" });
  const find = (...patterns) =>
    globSync(patterns, { cwd: cache })
      .map((path) => join(cache, path))
      .at(0);
  const found = {
    bun: find("node_modules/@oven/bun-*/bin/bun"),
    deno: find("node_modules/@deno/*/deno"),
    workerd: find("node_modules/@cloudflare/workerd-*/bin/workerd"),
  };
  if (status === 0 && Object.values(found).every((path) => path !== undefined)) return found;
  console.error("Not tested: npm could not install the runtimes. Is the npm registry reachable?");
  process.exit(1);
}

/** With the bundler of e2e, whose programs they are. */
async function bundle(input, file) {
  const bundler = createRequire(join(root, "e2e", "package.json")).resolve("rolldown");
  const { rolldown } = await import(pathToFileURL(bundler));
  const build = await rolldown({
    input: join(PROGRAMS, input),
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
  });
  await build.write({ file: join(cache, file), format: "esm", codeSplitting: false });
  await build.close();
  return join(cache, file);
}

/** As much of a broker as `start` asks. */
async function answeringBroker() {
  const broker = await startScriptedVendor({
    "/.well-known/oauth-authorization-server": () => ({ body: metadataOf(broker.url) }),
    "*": { status: 201, body: { request_uri: "urn:x", expires_in: 300 } },
  });
  return broker;
}

const metadataOf = (issuer) => ({
  issuer,
  authorization_endpoint: `${issuer}/v1/authorize`,
  pushed_authorization_request_endpoint: `${issuer}/v1/par`,
  token_endpoint: `${issuer}/v1/token`,
  revocation_endpoint: `${issuer}/v1/revoke`,
  require_pushed_authorization_requests: true,
  authorization_response_iss_parameter_supported: true,
  code_challenge_methods_supported: ["S256"],
});

async function output(command, args) {
  const child = spawn(command, args, { cwd: cache, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  const deadline = setTimeout(() => child.kill("SIGKILL"), WITHIN_MS);
  await once(child, "close");
  clearTimeout(deadline);
  return text;
}

async function onWorkerd(workerd, file, issuers) {
  const address = `127.0.0.1:${await freePort()}`;
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "${file.split("/").at(-1)}")], compatibilityDate = "2026-01-01")),
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "${address}", http = (), service = "main")],
);`;
  writeFileSync(join(cache, "config.capnp"), config);
  const child = spawn(workerd, ["serve", "config.capnp"], { cwd: cache, stdio: ["ignore", "ignore", "ignore"] });
  try {
    for (let tries = 0; tries < WITHIN_MS / 200; tries += 1) {
      const request = { method: "POST", body: JSON.stringify(issuers) };
      const answer = await fetch(`http://${address}/`, request).catch(() => undefined);
      if (answer !== undefined) return await answer.text();
      await sleep(200);
    }
    return "workerd does not answer";
  } finally {
    child.kill();
  }
}

const runtimes = bring();
const file = await bundle("runtime-main.mjs", "main.mjs");
const worker = await bundle("runtime-program.mjs", "worker.mjs");
const broker = await answeringBroker();
const hangingUp = await startScriptedVendor({ "*": (_, response) => void response.destroy() });
const issuers = { answers: broker.url, refuses: `http://127.0.0.1:${await freePort()}`, "hangs up": hangingUp.url };
const EXPECTED = {
  answers: "/v1/authorize",
  refuses: "temporarily_unavailable broker_unreachable",
  "hangs up": "temporarily_unavailable response_lost",
};
const given = JSON.stringify(issuers);
const RUNS = {
  "Node.js": () => output(process.execPath, [file, given]),
  Bun: () => output(runtimes.bun, [file, given]),
  Deno: () => output(runtimes.deno, ["run", "--allow-net", "--no-remote", file, given]),
  workerd: () => onWorkerd(runtimes.workerd, worker, issuers),
};

const total = { passed: 0, failed: 0 };
for (const [name, run] of Object.entries(RUNS)) {
  const text = await run();
  for (const [what, expected] of Object.entries(EXPECTED)) {
    let said;
    try {
      said = JSON.parse(text)[what];
    } catch {
      said = `no answer: ${text.slice(0, 200)}`;
    }
    total[said === expected ? "passed" : "failed"] += 1;
    console.log(`${said === expected ? "ok    " : "failed"}  ${name}: a broker that ${what}: ${said}`);
  }
}
await Promise.all([broker.close(), hangingUp.close()]);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
