import { afterAll, describe, expect, it } from "vitest";
import { EGRESS_CORPUS } from "../testing/corpora/egress-corpus.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { isPublicAddress } from "./address-ranges.ts";
import { createEgress, requireEgressUrl } from "./index.ts";

const OPTIONS = { allowLoopback: false, allowCidrs: [], timeoutMs: 2_000 };
const ANSWERS = new Map(
  EGRESS_CORPUS.map(({ url, resolvesTo }) => [URL.parse(url)?.hostname ?? "", resolvesTo ?? ["8.8.8.8"]]),
);
const REFUSED = expect.objectContaining({ name: "EgressError", kind: "refused", sent: false });

describe("egress over the corpus", () => {
  it("is run over at least 300 different URLs, each with a label of its own", () => {
    expect(new Set(EGRESS_CORPUS.map(({ url }) => url)).size).toBeGreaterThanOrEqual(300);
    expect(new Set(EGRESS_CORPUS.map(({ label }) => label)).size).toBe(EGRESS_CORPUS.length);
  });

  describe.each(["fetch", "fetchUntrusted"] as const)("through %s", (door) => {
    const network = recordingNetwork(ANSWERS);
    const egress = createEgress(OPTIONS, network.deps);
    afterAll(() => egress.close());

    it("bar#EG-1 opens no socket", async () => {
      for (const { url, label } of EGRESS_CORPUS) await expect(egress[door](url), label).rejects.toEqual(REFUSED);
      expect(network.sockets).toEqual([]);
    });

    it("bar#EG-7 reaches nothing inside once a parser has read them", async () => {
      for (const { url, label } of EGRESS_CORPUS) {
        const parsed = URL.parse(url);
        // The parser may turn odd spelling into a harmless URL, which then is no attack.
        const refused = { name: "EgressError", sent: false };
        if (parsed !== null) await expect(egress[door](parsed), label).rejects.toMatchObject(refused);
      }
      expect(network.sockets.filter((address) => !isPublicAddress(address))).toEqual([]);
    });
  });

  it("bar#DI-2 refuses as an endpoint what a look-up need not show", () => {
    const refused = expect.objectContaining({ code: "invalid_request" });
    for (const { url, label } of EGRESS_CORPUS.filter(({ stoppedBy }) => stoppedBy !== "answer"))
      expect(() => requireEgressUrl(url, { allowLoopback: false }), label).toThrow(refused);
  });
});
