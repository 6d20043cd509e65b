// `npm run test:runtimes`: broker-client on Bun, Deno and workerd (Cloudflare's runtime) beside
// Node.js: a whole request, a broker that refuses connections, one that hangs up. Opt-in: npm brings
// the three runtimes, some 350 MB, into node_modules/.cache once. Nothing but loopback is used. The
// last line is `N passed, N failed`.
import { execFile, spawn } from "node:child_process";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../e2e/support/free-port.ts";
import { startScriptedVendor } from "../packages/simulators/src/scripted-vendor.ts";
import { firstAnswer, root, run } from "./run.mjs";
import { refusal, runScript } from "./usage.mjs";

const VERSIONS = { bun: "1.4.5", deno: "2.9.6", workerd: "1.20261117.1" };
const ABOUT = {
  program: "npm run test:runtimes",
  help: `Tests broker-client on Bun ${VERSIONS.bun}, Deno ${VERSIONS.deno} and workerd ${VERSIONS.workerd}. npm installs them into
node_modules/.cache, once (350 MB).`,
};

const cache = join(root, "node_modules", ".cache", "runtimes");
const PROGRAMS = join(root, "e2e", "support", "packages");

/** Without their install scripts: the binaries are in packages of their own. */
function bring() {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies: VERSIONS }));
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: cache });
  const find = (pattern) => {
    const path = globSync(pattern, { cwd: cache }).at(0);
    if (path === undefined) throw refusal(`npm installed no ${pattern}`);
    return join(cache, path);
  };
  return {
    bun: find("node_modules/@oven/bun-*/bin/bun"),
    deno: find("node_modules/@deno/*/deno"),
    workerd: find("node_modules/@cloudflare/workerd-*/bin/workerd"),
  };
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

/** @returns what a program prints, or why it failed; slow machines start a runtime slowly */
const output = (command, ...args) =>
  promisify(execFile)(command, args, { cwd: cache, timeout: 60_000 }).then(
    ({ stdout }) => stdout,
    ({ message }) => message,
  );

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
    const answer = await firstAnswer(child, `http://${address}/`, { method: "POST", body: JSON.stringify(issuers) });
    return (await answer?.text()) ?? "workerd does not answer";
  } finally {
    child.kill();
  }
}

const EXPECTED = {
  answers: "/v1/authorize",
  refuses: "temporarily_unavailable broker_unreachable",
  "hangs up": "temporarily_unavailable response_lost",
};

await runScript(ABOUT, async () => {
  const runtimes = bring();
  const file = await bundle("runtime-main.mjs", "main.mjs");
  const worker = await bundle("runtime-program.mjs", "worker.mjs");
  const broker = await answeringBroker();
  const hangingUp = await startScriptedVendor({ "*": (_, response) => void response.destroy() });
  const issuers = { answers: broker.url, refuses: `http://127.0.0.1:${await freePort()}`, "hangs up": hangingUp.url };
  const given = JSON.stringify(issuers);
  const total = { passed: 0, failed: 0 };
  for (const [name, said] of [
    ["Node.js", await output(process.execPath, file, given)],
    ["Bun", await output(runtimes.bun, file, given)],
    ["Deno", await output(runtimes.deno, "run", "--allow-net", "--no-remote", file, given)],
    ["workerd", await onWorkerd(runtimes.workerd, worker, issuers)],
  ]) {
    const outcomes = parse(said);
    for (const [what, expected] of Object.entries(EXPECTED)) {
      const isRight = outcomes[what] === expected;
      total[isRight ? "passed" : "failed"] += 1;
      console.log(`${isRight ? "ok    " : "failed"}  ${name}: a broker that ${what}: ${outcomes[what] ?? said}`);
    }
  }
  await Promise.all([broker.close(), hangingUp.close()]);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
