/**
 * Documents of clients over the real network of this server: where it does not connect, and how
 * much it reads.
 */
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { EGRESS_CORPUS } from "../../../../oauth-core/src/testing/corpora/egress-corpus.ts";
import { httpAnswer, startLoopbackServer } from "../../../../oauth-core/src/testing/network/loopback-server.ts";
import { recordingNetwork } from "../../../../oauth-core/src/testing/network/recording-network.ts";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { expectPage, openStubServerFixture } from "../../testing/server-fixture.ts";
import { createClientDocuments, documentEgress } from "./metadata-document.ts";

const URI = "https://client.example/back";

describe("bar#AS-13 over the network of this server", () => {
  const settings = { egress: { allowLoopback: false, allowCidrs: ["10.0.0.0/8"] }, deploymentUrl: SERVER };
  const corpus = EGRESS_CORPUS.map(({ url, ...entry }) => ({ ...entry, url, host: URL.parse(url)?.host ?? "" }));
  const answers = new Map(
    corpus.map(({ url, resolvesTo }) => [URL.parse(url)?.hostname ?? "", resolvesTo ?? ["8.8.8.8"]]),
  );

  it("no address inside is reached, even if the operator permits the network", async () => {
    // Twice: `fetchUntrusted` reaches none of the operator's networks, and this egress has none.
    expect(documentEgress(settings).allowCidrs).toEqual([]);
    const network = recordingNetwork(answers);
    const egress = createEgress(documentEgress(settings), network.deps);
    const documents = createClientDocuments({
      fetch: egress.fetchUntrusted,
      fetchPublic: egress.fetchUntrusted,
      hosts: corpus.map(({ host: one }) => one),
      allowLoopback: false,
      now: () => 0,
    });
    let fetched = 0;
    for (const { url, label } of corpus) {
      const isTaken = documents.has(url);
      if (isTaken) fetched += 1;
      const found = documents.find(url);
      if (isTaken) await expect(found, label).rejects.toMatchObject({ code: "invalid_client" });
      else expect(await found, label).toBeUndefined();
    }
    expect(fetched).toBeGreaterThan(150);
    expect(network.sockets).toEqual([]);
    await egress.close();
  });

  it("nor our own public name", async () => {
    const network = recordingNetwork();
    const egress = createEgress(documentEgress(settings), network.deps);
    await expect(egress.fetchUntrusted(`${SERVER}/mcp`)).rejects.toMatchObject({ kind: "refused" });
    expect(network.sockets).toEqual([]);
    await egress.close();
  });
});

describe("bar#AS-13 from a host on loopback, where the operator permits it", () => {
  let body: () => Buffer;
  const web = shared(() => startLoopbackServer((socket) => void socket.end(body())));
  const local = shared(() => openStubServerFixture({ callback: { clientMetadataHosts: [new URL(web.origin).host] } }));
  const JSON_TYPE = { "content-type": "application/json", "cache-control": "no-store" };
  const document = (extra: object = {}) =>
    JSON.stringify({ client_id: `${web.origin}/id`, client_name: "Local", redirect_uris: [URI], ...extra });
  const ask = () => local.browser().authorize({ client_id: `${web.origin}/id`, redirect_uri: URI });

  it("five kilobytes are read, and not a byte more", async () => {
    const filler = (bytes: number) => document({ pad: "x".repeat(bytes - document({ pad: "" }).length) });
    body = () => httpAnswer(filler(5120), JSON_TYPE);
    expect((await ask()).status).toBe(200);
    body = () => httpAnswer(filler(5121), JSON_TYPE);
    await expectPage(await ask());
  });

  it("a redirect is not followed", async () => {
    const before = web.received.length;
    body = () => httpAnswer("", { location: `${web.origin}/other` }, 302);
    await expectPage(await ask());
    expect(web.received).toHaveLength(before + 1);
  });

  it("the request contains nothing about us or the user", async () => {
    body = () => httpAnswer(document(), JSON_TYPE);
    await ask();
    const request = (web.received.at(-1) ?? "").toLowerCase();
    expect(request).toMatch(/^get \/id http\/1\.1\r\n/);
    expect(request).not.toMatch(/cookie|authorization|referer|origin:/);
  });

  it("a slow request is aborted", async () => {
    const silent = await startLoopbackServer(() => undefined);
    const egress = createEgress({
      ...documentEgress({ egress: local.settings.egress, deploymentUrl: undefined }),
      timeoutMs: 200,
    });
    const documents = createClientDocuments({
      fetch: egress.fetchUntrusted,
      fetchPublic: egress.fetchUntrusted,
      hosts: [new URL(silent.origin).host],
      allowLoopback: true,
      now: () => 0,
    });
    await expect(documents.find(`${silent.origin}/id`)).rejects.toMatchObject({ code: "invalid_client" });
    expect(documentEgress({ egress: local.settings.egress, deploymentUrl: undefined }).timeoutMs).toBe(10_000);
    await silent.close();
    await egress.close();
  });
});
