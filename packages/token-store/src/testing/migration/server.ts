/**
 * A server of this build, as a process: the token store in the configured mode. Writes its own
 * users' tokens and checks that it reads them; reads older builds' users and checks that none goes
 * back. Started by migration.test.ts.
 */
import { kmsKeyWrapper } from "../../keys/kms.ts";
import { systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { dynamodbTokenRows } from "../../storage/dynamodb/token-rows.ts";
import { createTokenStore } from "../../token-store.ts";
import { PATIENT } from "../aws/deadline.ts";
import {
  type FleetSettings,
  keyOf,
  seeded,
  tokensOf,
  type Users,
  workUntilStopped,
  type Write,
  writeIn,
} from "./fleet.ts";

const STEPS_PER_SECOND = 15;

if (import.meta.main) {
  const settings = JSON.parse(process.argv[2] ?? "") as FleetSettings;
  const { table, region, dynamoDb, kms, keyId, seed, users, mode, server } = settings;
  const rows = dynamodbTokenRows({ table, region, endpoint: dynamoDb, ...PATIENT });
  const keys = kmsKeyWrapper({ keyId, region, endpoint: kms, deadlineMs: PATIENT.deadlineMs });
  const store = createTokenStore({ rows, timer: systemTimer, keys, mode, environment: region, now: systemClock });
  const random = seeded(seed);
  const by = `server${server}`;
  const mine = users.servers[server] ?? { from: 0, to: 0 };
  const last = new Map<number, number>(settings.last);
  const seen = new Map<number, number>();
  const problems: string[] = [];
  let [reads, writes] = [0, 0];
  const oneOf = ({ from, to }: Users): number => from + Math.floor(random() * (to - from));

  const write = async (index: number): Promise<void> => {
    const number = (last.get(index) ?? 0) + 1;
    await store.put(keyOf(index), tokensOf(index, { by, write: number }));
    last.set(index, number);
    writes += 1;
  };
  const read = async (index: number): Promise<Write | undefined> => {
    reads += 1;
    const found = writeIn((await store.get(keyOf(index)))?.tokens.accessToken.reveal());
    if (found === undefined) problems.push(`a server finds no token of user ${index}`);
    return found;
  };
  const readMine = async (): Promise<void> => {
    const index = oneOf(mine);
    const found = await read(index);
    const expected = last.get(index);
    if (found !== undefined && expected !== undefined && (found.by !== by || found.write !== expected)) {
      problems.push(`user ${index}: write ${found.write} by ${found.by}, not ${expected}`);
    }
  };
  const readOlder = async (): Promise<void> => {
    const index = oneOf(users.older);
    const found = await read(index);
    if (found?.by !== "older") return;
    if (found.write < (seen.get(index) ?? 0)) problems.push(`user ${index} went back to write ${found.write}`);
    seen.set(index, found.write);
  };

  const step = async (): Promise<void> => {
    const choice = random();
    if (choice < 0.3) await write(oneOf(mine));
    else if (choice < 0.35 && mode === "bridge") await write(oneOf(users.contended));
    else if (choice < 0.65) await readMine();
    else await readOlder();
  };
  await workUntilStopped(
    () => step().catch((error: unknown) => void problems.push(String(error))),
    () => ({ last: [...last], reads, writes, problems }),
    STEPS_PER_SECOND,
  );
  await store.close();
  keys.close();
}
