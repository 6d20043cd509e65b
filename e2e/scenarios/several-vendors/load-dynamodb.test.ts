/**
 * Users of a server with three vendors at two processes on one table, all at once: they link, call
 * and refresh, and each vendor is sent the token of the calling user alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTable } from "../../support/aws/mcp.ts";
import type { RawCall } from "../../support/several-vendors/raw.ts";
import { type Load, LOAD_VENDORS, type LoadUser, startLoad } from "../../support/several-vendors/load.ts";

const USERS = 4;
const ROUNDS = 3;
const MOST_TRIES = 5;
/** So short that tokens end among the calls. */
const LIFETIME_SECONDS = 2;

let load: Load;
let users: readonly LoadUser[];
beforeAll(async () => {
  load = await startLoad(LIFETIME_SECONDS);
  users = await Promise.all(Array.from({ length: USERS }, (_, index) => load.connect(`user-${index + 1}`)));
});
afterAll(() => load.close());

const own = ({ name }: LoadUser, vendors: number) => ({
  status: 200,
  user: name,
  subs: Array.from({ length: vendors }, () => name),
});

it("bar#RS-8 users who link two vendors at the same time get their own accounts", async () => {
  const answers = await Promise.all(
    users.map(async (user) => {
      const { urls, requestState } = await user.call("all_accounts");
      expect(Object.keys(urls).toSorted()).toEqual(["three", "two"]);
      // Two tabs of one browser.
      await user.browser.open("/connections");
      await Promise.all(Object.values(urls).map((url) => user.browser.link(url)));
      const inputResponses = { two: { action: "accept" }, three: { action: "accept" } };
      return user.call("all_accounts", { requestState, inputResponses });
    }),
  );
  expect(answers).toMatchObject(users.map((user) => own(user, 3)));
});

it("bar#RS-8 calls of all users at all vendors at once are answered for their caller", async () => {
  const tools = [...LOAD_VENDORS.map((id) => `${id}_account`), "all_accounts"];
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable no-await-in-loop -- as many calls at once as there are users
    const answers = await Promise.all(
      users.map(async (user, index) => {
        const tool = tools[(round + index) % tools.length] ?? "";
        return [await callUntilAnswered(user, tool), await callUntilAnswered(user, "all_accounts")];
      }),
    );
    const expected = users.map((user, index) => [
      own(user, (round + index) % tools.length === 3 ? 3 : 1),
      own(user, 3),
    ]);
    expect(answers).toMatchObject(expected);
    if (round === 0) await Promise.all([load.restart(), sleep(LIFETIME_SECONDS * 1_000)]);
    // oxlint-enable no-await-in-loop
  }
  for (const id of LOAD_VENDORS) {
    const { refreshes, replays } = load.vendors[id].counts();
    expect([refreshes >= USERS, replays]).toEqual([true, 0]);
  }
});

/** Where the machine is so busy that the table answers too late, the answer says so. */
async function callUntilAnswered(user: LoadUser, tool: string): Promise<RawCall> {
  for (let tries = 0; ; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const answer = await user.call(tool);
    if (!answer.text.includes("try again in a moment") || tries === MOST_TRIES) return answer;
  }
}

it("bar#TS-3 a writer of the table who moves a user's link gives no account away", async () => {
  const [victim, attacker] = users;
  if (victim === undefined || attacker === undefined) throw new Error("there are no two users");
  const table = openTable(load.aws);
  const linkOf = async ({ name }: LoadUser): Promise<Record<string, AttributeValue>> => {
    const items = (await load.aws.engine.items(load.aws.table)) as Record<string, AttributeValue>[];
    const found = items.find(({ pk, sk }) => pk?.S === `USER#${name}` && sk?.S === "VENDOR#two");
    if (found === undefined) throw new Error(`${name} has no link`);
    return found;
  };
  const [ofVictim, { pk, sk, ...before }] = [await linkOf(victim), await linkOf(attacker)];
  const { pk: _, sk: __, ...moved } = ofVictim;
  for (const attributes of [moved, { ...before, ...moved }, { ...moved, version: before["version"] ?? { N: "1" } }]) {
    // oxlint-disable no-await-in-loop -- one row
    await table.put({ pk: pk ?? { S: "" }, sk: sk ?? { S: "" }, ...attributes });
    const answer = await attacker.call("two_account");
    expect(answer.user).toBeUndefined();
    expect(answer.text).not.toContain(victim.name);
    // oxlint-enable no-await-in-loop
  }
  expect(await victim.call("two_account")).toMatchObject(own(victim, 1));
  table.close();
});

it("no response had a vendor's token, and no row names one", async () => {
  expect(load.received()).not.toMatch(/(?:token|refresh|code)-of-user/);
  const items = JSON.stringify(await load.aws.engine.items(load.aws.table));
  expect(items).not.toMatch(/(?:token|refresh|code)-of-user/);
});
