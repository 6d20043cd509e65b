/**
 * Vendors whose metadata points behind the broker, and the real egress over a network without
 * sockets, which records each address that would have been connected to.
 */
import { createEgress, type Egress } from "@oauth-broker/oauth-core/egress";
import type { FakeVendor } from "@oauth-broker/simulators";
import { EGRESS_CORPUS } from "../../../packages/oauth-core/src/testing/corpora/egress-corpus.ts";
import { recordingNetwork } from "../../../packages/oauth-core/src/testing/network/recording-network.ts";
import { answerOf, createFixture, requestOf } from "./fixture.ts";
import { vendorAt } from "./names.ts";

/** egress/corpus.test.ts has all of them: these show that each request goes through what it tests. */
export const SAMPLE = EGRESS_CORPUS.filter((_, index) => index % 10 === 0);
const ANSWERS = new Map(
  SAMPLE.map(({ url, resolvesTo }) => [URL.parse(url)?.hostname ?? "", resolvesTo ?? ["8.8.8.8"]]),
);

/** One vendor for each URL, which its metadata names as `endpoint`. */
export async function fixtureOf(urls: readonly string[], endpoint: string) {
  const network = recordingNetwork(ANSWERS);
  const guarded = createEgress({ allowLoopback: false, allowCidrs: [], timeoutMs: 2_000 }, network.deps);
  const vendors = urls.map((url, index) =>
    vendorAt(`https://v${index}.example`, { metadata: () => ({ [endpoint]: url }) }),
  );
  const fixture = await createFixture({ vendors, egress: onlyMetadataOf(vendors, guarded) });
  return { fixture, network, vendors };
}

/** Answers metadata requests; everything else meets the guard. */
function onlyMetadataOf(vendors: readonly FakeVendor[], guarded: Egress): Egress {
  const byOrigin = new Map(vendors.map((vendor) => [vendor.origin, vendor]));
  const fetch: Egress["fetch"] = async (input, init = {}) => {
    const request = requestOf(input, init);
    const { origin, pathname } = URL.parse(request.url) ?? { origin: "", pathname: "" };
    const vendor = pathname.startsWith("/.well-known/") ? byOrigin.get(origin) : undefined;
    return vendor === undefined ? guarded.fetch(input, init) : answerOf(vendor, request);
  };
  return { fetch, fetchUntrusted: fetch, close: async () => guarded.close() };
}
