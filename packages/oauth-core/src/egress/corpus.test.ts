import { describe, expect, it } from "vitest";
import { EGRESS_CORPUS } from "../testing/corpora/egress-corpus.ts";
import { recordingNetwork } from "../testing/network/recording-network.ts";
import { isPublicAddress } from "./addresses.ts";
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
    it.each(EGRESS_CORPUS)("bar#EG-1 opens no socket for $label", async ({ url }) => {
      const network = recordingNetwork(ANSWERS);
      const egress = createEgress(OPTIONS, network.deps);
      await expect(egress[door](url)).rejects.toEqual(REFUSED);
      expect(network.sockets).toEqual([]);
      await egress.close();
    });

    it.each(EGRESS_CORPUS)("bar#EG-7 reaches nothing inside once a parser has read $label", async ({ url }) => {
      const parsed = URL.parse(url);
      if (parsed === null) return;
      const network = recordingNetwork(ANSWERS);
      const egress = createEgress(OPTIONS, network.deps);
      // The parser may turn odd spelling into a harmless URL, which then is no attack.
      await expect(egress[door](parsed)).rejects.toMatchObject({ name: "EgressError", sent: false });
      expect(network.sockets.filter((address) => !isPublicAddress(address))).toEqual([]);
      await egress.close();
    });
  });

  it.each(EGRESS_CORPUS.filter(({ stoppedBy }) => stoppedBy !== "answer"))(
    "bar#DI-2 refuses as an endpoint $label",
    ({ url }) => {
      expect(() => requireEgressUrl(url, { allowLoopback: false })).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
    },
  );
});
