/**
 * `vendor new`: writes the file of a first-class vendor from what its issuer publishes, and lists
 * what is left to find out.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { OAuthError } from "@oauth-broker/oauth-core";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { parseSync } from "rolldown/utils";
import { ROOT } from "../../sources.ts";
import { exportName } from "../../code/first-class.ts";
import { dateOf } from "../date.ts";
import { discoverIssuer } from "./discovery.ts";
import { withEgress, type Environment } from "../environment.ts";
import { explain, NOT_ASKED, refusal, requireOptionUrl, WRONG } from "../refusal.ts";
import { factsOf } from "./vendor-facts.ts";
import { vendorFile } from "./vendor-file.ts";

interface NewOptions {
  readonly issuer: string;
  readonly id?: string;
  /** The vendor's display name. */
  readonly displayName?: string;
  /** The folder to write into. */
  readonly out: string;
  readonly loopback: boolean;
}

/** @returns the exit code */
export async function runNew(options: NewOptions, environment: Environment): Promise<number> {
  const { issuer, out, loopback } = options;
  const url = requireIssuerUrl(issuer, loopback);
  const id = requireId(options.id ?? idOf(url));
  const name = requireName(options.displayName ?? nameOf(id));
  const path = join(out, `${id}.ts`);
  requireNew(id, path);
  environment.tell(`Fetching the metadata of ${url.origin}`);
  const discovered = await withEgress(loopback, ({ fetchUntrusted: fetch }) =>
    discoverIssuer(issuer, { fetch, now: environment.now, allowLoopback: loopback }),
  ).catch((error: unknown) => {
    throw refusal(notDiscovered(error), isUnreachable(error) ? NOT_ASKED : WRONG);
  });
  const { vendor, open } = factsOf(id, name, issuer, discovered);
  const about = { checkedOn: dateOf(environment.now), sources: [discovered.address] };
  writeFileSync(path, await vendorFile(vendor, about), { flag: "wx" });
  environment.print(`Wrote ${relative(ROOT, path)} from ${discovered.address}`);
  environment.print(
    "\nThe metadata does not contain the following. Look it up in the vendor's documentation, and add its URL to the sources:",
  );
  for (const field of open) environment.print(`  ${field}`);
  const isListed = REGISTRY.has(id);
  if (isListed) environment.print(`\nThe catalogue's entry ${id} is replaced by this file. Compare the two first.`);
  environment.print(`
Then
- npm run docs: lists the file, and remakes docs/vendors.md
- packages/simulators/src/vendors: a simulator that behaves as the facts say, and its line in ../testing/replay-fixture.ts
- e2e/scenarios/vendors/${id}.test.ts: connect, refresh, revoke, cancel and every error against it
- npm run vendor -- probe ${id}: whether the vendor still is what the file says
- npm run vendor -- try ${id}: a whole flow at the vendor with an app of your own, recorded for the simulator
docs/adding-a-vendor.md says more.`);
  return 0;
}

function requireIssuerUrl(issuer: string, allowLoopback: boolean): URL {
  const url = requireOptionUrl("--issuer", issuer, allowLoopback);
  if (url.search !== "") throw refusal("--issuer must have no query");
  return url;
}

/** Labels that name one of a vendor's servers, not the vendor. */
const SERVERS: ReadonlySet<string> = new Set(
  "www auth login accounts account mcp api id oauth sso identity".split(" "),
);

/** @throws Refusal when a host is an address */
function idOf({ hostname }: URL): string {
  const labels = hostname.split(".").filter((label) => !SERVERS.has(label));
  const [label = ""] = labels;
  if (labels.length < 2 || !ID.test(label))
    throw refusal(`--id is needed: ${hostname} does not contain a name for the vendor`);
  return label;
}

const ID = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** `custom` is the id of vendors that requests describe. */
function requireId(id: string): string {
  const isReserved = parseSync("id.ts", `export const ${exportName(id)} = 1;`).errors.length > 0;
  if (ID.test(id) && id.length <= 63 && !isReserved && id !== "custom") return id;
  throw refusal(
    "--id must be lower case letters and digits with single - between, begin with a letter, and not be a reserved word of TypeScript",
  );
}

function requireName(name: string): string {
  if (/^[^\p{Cc}*\\]{1,60}$/u.test(name)) return name;
  throw refusal("--name must have 1 to 60 characters, without control characters, * and \\");
}

function nameOf(id: string): string {
  return id.replace(
    /(^|-)([a-z0-9])/g,
    (_, before: string, letter: string) => `${before === "" ? "" : " "}${letter.toUpperCase()}`,
  );
}

function requireNew(id: string, path: string): void {
  if (existsSync(path)) throw refusal(`${relative(ROOT, path)} already exists and is not overwritten`);
  if (REGISTRY.get(id)?.verification.status === "first-class") throw refusal(`${id} is already a first-class vendor`);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof OAuthError && error.code === "temporarily_unavailable";
}

function notDiscovered(error: unknown): string {
  const reason = error instanceof OAuthError ? error.extras.reason : undefined;
  const hint =
    reason === "issuer_mismatch"
      ? "\nAn issuer is compared byte for byte: check the trailing slash, and give the one that the metadata names."
      : "";
  return `No file was written. ${explain(error)}${hint}`;
}
