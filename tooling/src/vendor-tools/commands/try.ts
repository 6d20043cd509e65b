/**
 * `vendor try`: one connection at the vendor itself, with the operator's own client and account,
 * from consent to revocation. Records the vendor's answers without personal data and secrets, so
 * that the simulator can be compared with them.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defined, OAuthError, systemTimer } from "@oauth-broker/oauth-core";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import {
  allowedFor,
  createRecorder,
  type Fixture,
  fixtureName,
  FORMAT,
  type Leg,
  runLegs,
} from "@oauth-broker/simulators/fixtures";
import { ROOT } from "../../sources.ts";
import { type CallbackServer, startCallbackServer } from "./callback-server.ts";
import { dateOf } from "../date.ts";
import { ownClient, registeredClient, requireSource } from "../credentials.ts";
import { withEgress, type Environment } from "../environment.ts";
import { type Choice, knownVendor } from "../known-vendor.ts";
import { explain, isRefusal, NOT_ASKED, refusal, requireOptionUrl, WRONG } from "../refusal.ts";

interface TryOptions extends Choice {
  /** Default: those of the entry. */
  readonly scope?: readonly string[];
  readonly resource?: string;
  /** The port of the listener on loopback; 0 for a free one. */
  readonly port: number;
  /** As registered at the vendor, when that is not the listener's own address. */
  readonly redirectUri?: string;
  /** The vendor registers a client for this run. */
  readonly register: boolean;
  readonly timeoutSeconds: number;
  /** The folder to write into. */
  readonly out: string;
}

/** @returns the exit code */
export async function runTry(options: TryOptions, environment: Environment): Promise<number> {
  const { vendor } = knownVendor(options);
  const about = { vendor: vendor.id, recordedOn: dateOf(environment.now) };
  const path = join(options.out, fixtureName(about));
  if (existsSync(path)) throw refusal(`${relative(ROOT, path)} already exists and is not overwritten`);
  if (!options.register) requireSource(vendor, environment);
  const server = await startCallbackServer(options.port);
  try {
    const scope = options.scope ?? vendor.defaultScopes;
    const legs = await withEgress(options.loopback, ({ fetch }) =>
      connect({ vendor, scope, server, options, fetch }, environment),
    );
    const fixture: Fixture = { format: FORMAT, ...about, scope, legs };
    mkdirSync(options.out, { recursive: true });
    writeFileSync(path, `${JSON.stringify(fixture, null, 2)}\n`, { flag: "wx" });
    environment.print(`Recorded ${relative(ROOT, path)}`);
    environment.tell(
      "Read it before you commit it. The vendor's simulator is compared with it by packages/simulators/src/vendors/fixtures.test.ts.",
    );
    return 0;
  } catch (error) {
    if (isRefusal(error) || !(error instanceof OAuthError)) throw error;
    const isOutage = error.code === "temporarily_unavailable";
    throw refusal(`Nothing was recorded. ${explain(error)}`, isOutage ? NOT_ASKED : WRONG);
  } finally {
    await server.close();
  }
}

interface Connection {
  readonly vendor: Vendor;
  readonly scope: readonly string[];
  readonly server: CallbackServer;
  readonly options: TryOptions;
  readonly fetch: Parameters<typeof createRecorder>[0];
}

async function connect(
  { vendor, scope, server, options, fetch }: Connection,
  environment: Environment,
): Promise<Leg[]> {
  const { loopback, resource, timeoutSeconds } = options;
  const redirectUri = redirectUriOf(options, server);
  const allowed = allowedFor(vendor, scope);
  const recorder = createRecorder(fetch, allowed);
  const vendorClient = createVendorClient({
    fetch: recorder.fetch,
    timer: systemTimer,
    now: environment.now,
    allowLoopback: loopback,
  });
  environment.tell(`Register this redirect URI at ${vendor.name}: ${redirectUri}`);
  const { credentials, method } = options.register
    ? await registeredClient({ ...vendor, defaultScopes: scope }, redirectUri, vendorClient)
    : await ownClient(vendor, environment);
  if (options.register)
    environment.tell(`${vendor.name} has registered a client for this run: ${credentials.clientId}`);
  // The registration is not a leg.
  recorder.take();
  const resolved = await vendorClient.resolve({ ...vendor, tokenEndpointAuthMethod: method });
  const browse = (url: string): Promise<URLSearchParams> => {
    const callback = server.wait(new URL(redirectUri).pathname, timeoutSeconds);
    environment.tell(`Open in a browser, within ${timeoutSeconds} seconds:\n${url}`);
    return callback;
  };
  const onLeg = ({ leg, outcome }: Leg): void => {
    environment.tell(`${leg}: ${outcome}`);
    if (leg === "revoke" && !ENDED.has(outcome)) environment.tell(leftAlive(vendor));
  };
  const journey = { vendor: resolved, credentials, redirectUri, scope, browse, ...defined({ resource }) };
  return runLegs(journey, { vendorClient, recorder, allowed, onLeg });
}

function redirectUriOf({ redirectUri }: TryOptions, { port }: CallbackServer): string {
  const own = `http://127.0.0.1:${port}/callback`;
  if (redirectUri === undefined) return own;
  requireOptionUrl("--redirect-uri", redirectUri, true);
  // As registered, byte for byte.
  return redirectUri;
}

const ENDED: ReadonlySet<string> = new Set(["token", "grant", "already"]);

function leftAlive({ name, revocationHelp = "Remove the app in your account's settings there" }: Vendor): string {
  return `The tokens of this run are still valid at ${name}. ${revocationHelp}.`;
}
