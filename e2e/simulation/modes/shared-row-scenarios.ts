/**
 * Small scenarios of what processes share beside the flows of a broker, for every order: the row of
 * a link, the table that is migrated, the keyset. A whole server has too many answers for that, so
 * the functions that share it race, each in another process.
 */
import { type Fetch, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { Row, TokenKey, TokenSet } from "@oauth-broker/token-store";
import { readSealedGrant, sealRefreshToken } from "@oauth-broker/broker/src/grants/sealed-refresh-token.ts";
import { createKeyset, type Keyset, PUBLISH_SECONDS } from "@oauth-broker/broker/src/keys/keyset.ts";
import { recordKeysetStorage } from "@oauth-broker/broker/src/keys/keyset-storage.ts";
import {
  atVendor,
  discardTokens,
  freshTokens,
  type LinkDeps,
  linkKey,
  revokeAtVendor,
  tokenSetOf,
} from "../../../packages/mcp-auth/src/hosted/links/link.ts";
import { STANDALONE } from "../../../packages/token-store/src/cli/arguments.ts";
import { migrate } from "../../../packages/token-store/src/cli/migrate.ts";
import { createDataKeys } from "../../../packages/token-store/src/keys/data-keys.ts";
import { bridge } from "../../../packages/token-store/src/modes/bridge.ts";
import { dataKeyContext } from "../../../packages/token-store/src/token-store.ts";
import { createTokenRecords } from "../../../packages/token-store/src/tokens/row-records.ts";
import { rowKeyOf } from "../../../packages/token-store/src/tokens/token-attributes.ts";
import { clockOf } from "../world/fleet.ts";
import { createSurroundings, ENVIRONMENT, portsOf, SETTINGS, type Surroundings, TABLE } from "../world/servers.ts";
import type { Scenario, Stage } from "./every-order.ts";

const USER = "anna";

export const SHARED_ROW_SCENARIOS: Readonly<Record<string, Scenario>> = {
  "link-disconnect-and-refresh": among(async (world) => {
    const { promises, scheduler } = world;
    const race = Promise.withResolvers<void>();
    const [refreshing, ending, linking] = [linksOf(0, world, race.promise), linksOf(1, world), linksOf(2, world)];
    const key = linkKey(USER, linking);
    await linking.tokens.link(key, issuedTo(world, linking, 0), 0);
    await keepKeys([refreshing, ending, linking], key);
    const newer = issuedTo(world, linking, 3_600);
    // It has its lease, and is about to ask the vendor: with all of it there would be 10,000 orders.
    const refresh = freshTokens(USER, refreshing).catch(refusedGrant);
    await scheduler.wait(1);
    return async () => {
      race.resolve();
      const [linked, ended, refreshed] = await Promise.all([
        linking.tokens.link(key, newer, 1),
        ending.tokens.endLink(key, 1),
        refresh,
      ]);
      const isLinked = linked !== "conflict";
      if (isLinked === (ended !== "conflict")) promises.broke("a link and a disconnect over one version are not one");
      // Then, as in a server, what is stored nowhere is revoked.
      if (!isLinked) await discardTokens(newer, USER, linking);
      if (typeof ended === "object") await revokeAtVendor(ended.tokens, ending);
      // Until what came too late is, too.
      await scheduler.wait(2_000);
      const found = await freshTokens(USER, refreshing);
      if (isLinked && refreshed === "refused") promises.broke("a refresh was refused, and the user did not disconnect");
      if (isLinked && found?.tokens.accessToken.reveal() !== newer.accessToken.reveal()) {
        promises.broke("a link was lost to what began before it");
      }
      if (!isLinked && found !== undefined) promises.broke("a disconnected link gives a token");
      if (!isLinked && vendorIn(world).holds(USER)) promises.broke("no link has what the vendor has granted");
    };
  }),
  "migrate-beside-a-writer": among(async (world) => {
    const { promises } = world;
    const [migrating, serving, older] = [recordsOf(0, world), recordsOf(1, world), portsOf(2, world)];
    const key: TokenKey = { user: USER, vendor: "acme", issuer: "acme.example" };
    const row = rowKeyOf(key);
    let last = "";
    const writeAsOlderBuild = async (text: string): Promise<void> => {
      const tokens = { access_token: text, refresh_token: `refresh-${text}`, token_type: "Bearer" };
      await older.rows.change(row, { set: { ...tokens, updated_at: older.now() } }, {});
      last = text;
    };
    const replace = async (text: string): Promise<void> => {
      await serving.records.replace(key, tokensNamed(text));
      last = text;
    };
    for (const { records } of [migrating, serving])
      await records.replace({ ...key, user: "bert" }, tokensNamed("bert's"));
    await writeAsOlderBuild("plain before");
    return async () => {
      const [{ ending }] = await Promise.all([
        migrateAll(migrating, key),
        writeAsOlderBuild("plain later"),
        replace("by a server"),
      ]);
      if (ending !== "done") promises.broke(`migrate ended with ${ending}`);
      const found = await serving.records.read(key);
      if (found?.stored.tokens.accessToken.reveal() !== last) promises.broke("what was written last was lost");
      const { attributes }: Pick<Row, "attributes"> = (await older.rows.get(row)) ?? { attributes: {} };
      const { data_key: sealed, access_token: plain } = attributes;
      if (sealed === undefined) promises.broke("a migrated row is not sealed");
      if (plain !== last) promises.broke("an older build does not read what was written last");
    };
  }),
  "rotation-beside-an-opening": among(async (world) => {
    const { promises, scheduler } = world;
    const keysets = ["operator", "other operator", "broker"].map((name) => keysetOf(name, world));
    for (const keyset of keysets) await keyset.load();
    const [operator, other, broker] = keysets as [Keyset, Keyset, Keyset];
    const before = sealUnder(operator);
    const unknown = before.replace(/\..*\./, ".elsewhere.");
    // Until an unknown key makes the broker read again.
    await scheduler.wait(2_000);
    return async () => {
      const revisions: number[] = [];
      const inBroker = async (isDone: Promise<boolean>, what: string): Promise<void> => {
        if (!(await isDone)) promises.broke(what);
        revisions.push(broker.revision());
      };
      await Promise.all([
        operator.rotate(),
        other.rotate(),
        inBroker(opens(before, broker), "what was sealed before a rotation does not open beside it"),
        inBroker(
          opens(unknown, broker).then((isOpen) => !isOpen),
          "a forged key id opens something",
        ),
        broker.load().then(() => revisions.push(broker.revision())),
      ]);
      if (revisions.some((revision, index) => revision < (revisions[index - 1] ?? 0))) {
        promises.broke("a broker went back to an older keyset");
      }
      await scheduler.wait((PUBLISH_SECONDS + 1) * 1_000);
      await operator.load();
      if (operator.describe().length !== keysets.length) promises.broke("a rotation was lost");
      const after = sealUnder(operator);
      await Promise.all([
        inBroker(opens(after, broker), "what was sealed after a rotation does not open"),
        inBroker(opens(after, broker), "what was sealed after a rotation does not open"),
        inBroker(opens(before, broker), "what was sealed before a rotation does not open"),
      ]);
    };
  }),
};

/** @param prepare returns the race */
function among(prepare: (world: Surroundings) => ReturnType<Stage["prepare"]>): Scenario {
  return async (choose, weaken) => {
    const world = createSurroundings(choose, undefined, weaken);
    return { ...world, prepare: () => prepare(world) };
  };
}

function vendorIn({ vendors }: Surroundings) {
  const vendor = vendors.get("acme.example");
  if (vendor === undefined) throw new Error("the world has this vendor");
  return vendor;
}

function issuedTo(world: Surroundings, links: LinkDeps, expiresInSeconds: number): TokenSet {
  const tokens = vendorIn(world).issue({ client: "tokens at acme", user: USER });
  return tokenSetOf({ ...tokens, tokenType: "Bearer", expiresInSeconds, vendorData: {} }, links);
}

function tokensNamed(text: string): TokenSet {
  return { accessToken: new Secret(text), tokenType: "Bearer" };
}

/** @param race until then it does not ask the vendor */
function linksOf(index: number, world: Surroundings, race?: Promise<void>): LinkDeps {
  const { now, timer, tokens, outside } = portsOf(index, world);
  const fetch: Fetch = async (...given) => {
    await race;
    return outside.fetch(...given);
  };
  const vendorClient = createVendorClient({ fetch, timer, now, ...SETTINGS.egress });
  return atVendor("acme", { tokens, vendorClient, now, events: undefined, settings: SETTINGS });
}

/** The race is over the row, and no process asks the key service in it. */
async function keepKeys(all: readonly LinkDeps[], key: TokenKey): Promise<void> {
  for (const { tokens } of all) {
    await tokens.get(key);
    await tokens.put({ ...key, user: "bert" }, tokensNamed("bert's"));
  }
}

function refusedGrant(error: unknown): "refused" {
  if (error instanceof OAuthError && error.code === "invalid_grant") return "refused";
  throw error;
}

function recordsOf(index: number, world: Surroundings) {
  const { now, timer, rows, keys } = portsOf(index, world);
  const where = { environment: ENVIRONMENT, table: TABLE };
  const dataKeys = createDataKeys({ keys, context: dataKeyContext(where), now, timer });
  const parts = { rows, dataKeys, mode: bridge, environment: ENVIRONMENT, now };
  return { ...parts, records: createTokenRecords(parts) };
}

async function migrateAll(parts: Omit<ReturnType<typeof recordsOf>, "records">, { vendor, issuer }: TokenKey) {
  const issuers = new Map([[vendor, issuer]]);
  return migrate(
    { issuers, rate: 1_000, rewrap: false, dryRun: false, skipIssuerCheck: true },
    {
      ...parts,
      checkpoint: undefined,
      recordsFor: (rows, onEvent) => createTokenRecords({ ...parts, rows, onEvent }),
      // It races at any pace.
      sleep: async () => {},
      elapsedMs: () => 0,
      signal: new AbortController().signal,
      report: () => undefined,
      program: STANDALONE,
    },
  );
}

function keysetOf(name: string, { scheduler, store, keyService }: Surroundings): Keyset {
  const now = clockOf(scheduler);
  const place = { baseUrl: "https://broker.example", environment: ENVIRONMENT, table: TABLE };
  const records = store.of(name, now);
  return createKeyset({
    storage: recordKeysetStorage({ records, place, wrapper: keyService.of(name), otherwise: "another key" }),
    now,
  });
}

const CONNECTION = { v: 1, vendor: "acme", credentialsId: "2026", credentialsSource: "shared", hosts: [] } as const;

function sealUnder(keyset: Keyset): string {
  return sealRefreshToken("sealed thing", CONNECTION, "north", { keyset }) ?? "";
}

async function opens(sealed: string, keyset: Keyset): Promise<boolean> {
  const refuse = (): OAuthError => new OAuthError("invalid_grant", "It does not open");
  return readSealedGrant(sealed, "north", { keyset }, refuse).then(
    (grant) => grant?.refreshToken === "sealed thing",
    () => false,
  );
}
