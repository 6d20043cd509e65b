/** Opens what the operator's commands work on: the same settings, table and keys as the server. */
import { defined, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { stoppable, terminalStreams } from "@oauth-broker/oauth-core/command-line";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { createLog } from "@oauth-broker/service";
import { readTokenStoreSettings, requireStoreFile } from "@oauth-broker/token-store";
import { runCommandLine } from "@oauth-broker/token-store/cli";
import { type Environment, loadSettings } from "../config.ts";
import { createSignIns } from "../hosted/pages/sign-ins.ts";
import { identitySource } from "../hosted/records/identity-source.ts";
import { resourceOf } from "../resource/paths.ts";
import { createServerRecords } from "../hosted/records/server-key.ts";
import { createSignInGeneration } from "../hosted/sessions/sign-in-generation.ts";
import { createUserSessions } from "../hosted/sessions/user-sessions.ts";
import { atVendor, endLink } from "../hosted/links/link.ts";
import type { HostedSettings } from "../settings.ts";
import { openStorage } from "../storage.ts";
import type { OperatorLinks } from "./links.ts";

const TIMEOUT_MS = 10_000;

/** @throws ConfigError; TokenStoreError; OAuthError temporarily_unavailable */
export async function openLinks(environment?: Environment): Promise<OperatorLinks> {
  const settings = hostedSettings(environment);
  requireStoreFile(readTokenStoreSettings({}, environment));
  // stdout belongs to the command.
  const log = createLog({ write: (line) => void process.stderr.write(line) });
  const storage = await openStorage({ now: systemClock, log, ...defined({ environment }) });
  const egress = createEgress({ ...settings.egress, timeoutMs: TIMEOUT_MS });
  const { records: table, keys, context, tokens } = storage;
  // A command never replaces an unsealed server key: only a start of the server does.
  const { records, serverKey } = createServerRecords({ records: table, keys, context });
  const vendorClient = createVendorClient({
    fetch: egress.fetch,
    timer: systemTimer,
    now: systemClock,
    ...settings.egress,
  });
  const { links, deploymentUrl } = settings;
  const audience = resourceOf(deploymentUrl);
  const source = identitySource(settings);
  const signInGeneration = createSignInGeneration({ records, audience });
  const of = { records, serverKey, now: systemClock, source, signInGeneration };
  const sessions = createUserSessions({ ...of, audience, links });
  const signIns = createSignIns({ ...of, deploymentUrl });
  const deps = { tokens, vendorClient, now: systemClock, settings };
  return {
    vendors: new Map([...links.vendors].map(([id, { vendor }]) => [id, vendor])),
    signIn: links.kind === "one" ? undefined : settings.vendor.vendor,
    list: (user) => tokens.links(user, links.signInOfKeys()),
    endSessions: (user) => sessions.endAll(user),
    endPages: (user) => signIns.endAll(user),
    endLink: (user, id) => endLink(user, atVendor(id, deps)),
    close: async () => {
      await storage.close();
      await egress.close();
    },
  };
}

/**
 * The token store's own commands, with the issuers this server seals under.
 *
 * @returns the exit code
 */
export async function runTokenStore(args: readonly string[], environment?: Environment): Promise<number> {
  const issuers = isHelp(args) ? new Map<string, string>() : issuersOf(hostedSettings(environment));
  const program = { name: "node main.js token-store", issuers };
  return stoppable((signal) =>
    runCommandLine(args, { ...terminalStreams(), signal, ...defined({ environment }), program }),
  );
}

/** What tokens are bound to, by vendor. An `--issuer` on the command line replaces one of them. */
export function issuersOf({ links }: Pick<HostedSettings, "links">): Map<string, string> {
  const sources = [...links.vendors.values()].map((one) => identitySource({ vendor: one }));
  return new Map(sources.map((source) => [source.vendor, source.issuer]));
}

function isHelp(args: readonly string[]): boolean {
  return args.length === 0 || ["help", "--help", "-h", "--version", "-v"].some((word) => args.includes(word));
}

function hostedSettings(environment?: Environment): HostedSettings {
  const settings = loadSettings(environment);
  if (settings.mode === "hosted") return settings;
  throw new Error("OAUTH_MODE is pre-registered: this server keeps no users' tokens, so this command has no data.");
}
