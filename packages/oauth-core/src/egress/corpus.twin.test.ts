/**
 * The twin of corpus.test.ts: with the address and name checks off, the same URLs are
 * connected to.
 */
import { expect, it } from "vitest";
import { EGRESS_CORPUS } from "../testing/corpora/egress-corpus.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { weaken } from "../testing/weaken.ts";
import * as addresses from "./address-ranges.ts";
import { createEgress } from "./index.ts";

const OPTIONS = { allowLoopback: false, allowCidrs: [], timeoutMs: 2_000 };
const ANSWERS = new Map(
  EGRESS_CORPUS.map(({ url, resolvesTo }) => [URL.parse(url)?.hostname ?? "", resolvesTo ?? ["8.8.8.8"]]),
);
const BY_ADDRESS = EGRESS_CORPUS.filter(
  ({ stoppedBy, resolvesTo }) => stoppedBy !== "syntax" && resolvesTo?.length !== 0,
);

it("egress without the address check would connect for each of them", async () => {
  weaken(addresses, () => ({ isPublicAddress: () => true, isPrivateName: () => false }));
  const missed: string[] = [];
  for (const { url, label } of BY_ADDRESS) {
    const network = recordingNetwork(ANSWERS);
    const egress = createEgress(OPTIONS, network.deps);
    await egress.fetch(new URL(url)).catch(() => undefined);
    if (network.sockets.length === 0) missed.push(label);
    await egress.close();
  }
  expect(BY_ADDRESS.length).toBeGreaterThan(0);
  expect(missed).toEqual([]);
});
