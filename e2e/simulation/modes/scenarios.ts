/** Small scenarios for every order: what is prepared, and which requests then race. */
import { defined } from "@oauth-broker/oauth-core";
import { type Account, beginFlow, codeIn, connect, createAccount, type Kept } from "../actors/platform.ts";
import type { Answer } from "../world/answer.ts";
import type { Sent } from "../world/network.ts";
import { clientNamed } from "../world/processes.ts";
import { createWorld, type World } from "../world/world.ts";
import type { Scenario, Stage } from "./every-order.ts";
import { SHARED_ROW_SCENARIOS } from "./shared-row-scenarios.ts";

const FIRST = 0;
const SECOND = 1;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...SHARED_ROW_SCENARIOS,
  "two-callbacks": amongBrokers(async (world) => {
    const { account, back } = await atVendor(world);
    const { browser } = account;
    return async () => {
      const answers = await Promise.all([browser.open(back, FIRST), browser.open(back, SECOND)]);
      requireOne(world, answers, (answer) => codeIn(answer) !== undefined, "callback has a code");
    };
  }),
  "redemption-and-replay": amongBrokers(async (world) => {
    const { account, back, verifier } = await atVendor(world);
    const code = codeIn(await account.browser.open(back, FIRST)) ?? "";
    const redeem = (process: number): Promise<Answer | undefined> =>
      send(account, process, {
        grant_type: "authorization_code",
        code,
        redirect_uri: account.client.redirectUri,
        code_verifier: verifier,
      });
    return async () => {
      const [one, other] = await Promise.all([redeem(FIRST), redeem(SECOND), account.browser.open(back, SECOND)]);
      requireOne(world, [one, other], isOk, "redemption has tokens");
    };
  }),
  "two-refreshes": amongBrokers(async (world) => {
    const { account, kept } = await connected(world);
    return async () => {
      const answers = await Promise.all([refresh(account, kept, FIRST), refresh(account, kept, SECOND)]);
      if (!answers.every(isOk)) world.promises.broke("of two equal refreshes one has no tokens");
    };
  }),
  "refresh-crash-and-refresh": amongBrokers(async (world) => {
    const { account, kept } = await connected(world);
    return async () => {
      const touch = { process: "broker 1", place: "broker 1", isRead: false };
      world.scheduler.later(0, () => void world.processes.crash(FIRST), touch);
      const answers = await Promise.all([refresh(account, kept, FIRST), refresh(account, kept, SECOND)]);
      if (answers[1]?.status === undefined) world.promises.broke("the process that did not crash has no answer");
    };
  }),
  "refresh-and-revoke": refreshesAndRevoke([FIRST]),
  "two-refreshes-and-revoke": refreshesAndRevoke([FIRST, SECOND]),
};

function refreshesAndRevoke(processes: readonly number[]): Scenario {
  return amongBrokers(async (world) => {
    const { account, kept } = await connected(world);
    const { refreshToken: token, connection } = kept;
    return async () => {
      const form = { token, connection };
      await Promise.all([
        ...processes.map((process) => refresh(account, kept, process)),
        world.send(account.asker, { path: "/v1/revoke", form, client: account.client, process: SECOND }),
      ]);
      if (isOk(await refresh(account, kept, SECOND))) world.promises.broke("a refresh after a revocation has tokens");
    };
  });
}

/** @param prepare returns the race */
function amongBrokers(prepare: (world: World) => ReturnType<Stage["prepare"]>): Scenario {
  return async (choose, weaken) => {
    const clients = [clientNamed("north"), clientNamed("mallory")];
    const parts = { choose, random: undefined, clients, aheadSeconds: [0, 0], ...defined({ weaken }) };
    const world = await createWorld(parts);
    return {
      ...world,
      prepare: async () => {
        // Until every process has its keys.
        await world.scheduler.wait(1_000);
        return prepare(world);
      },
      close: () => world.processes.close(),
    };
  };
}

async function atVendor(world: World) {
  const account = accountIn(world);
  const flow = await beginFlow(account);
  if (flow === undefined) throw new Error("nothing fails here, and the user did not come to the vendor");
  return { account, ...flow };
}

async function connected(world: World) {
  const account = accountIn(world);
  const kept = await connect(account, 1);
  if (kept === undefined) throw new Error("nothing fails here, and the user could not connect");
  return { account, kept };
}

function accountIn(world: World): Account {
  const [client] = world.clients;
  if (client === undefined) throw new Error("a world has clients");
  return createAccount("anna", client, world);
}

function send({ asker, client, world }: Account, process: number, form: NonNullable<Sent["form"]>) {
  return world.send(asker, { path: "/v1/token", form, client, process });
}

function refresh(account: Account, { refreshToken, connection }: Kept, process: number): Promise<Answer | undefined> {
  return send(account, process, { grant_type: "refresh_token", refresh_token: refreshToken, connection });
}

function isOk(answer: Answer | undefined): boolean {
  return answer?.status === 200;
}

function requireOne(
  { promises }: World,
  answers: readonly (Answer | undefined)[],
  isIt: (answer: Answer | undefined) => boolean,
  what: string,
): void {
  const count = answers.filter(isIt).length;
  if (count !== 1) promises.broke(`${count} of ${answers.length}: ${what}`);
}
