/**
 * `OAUTH_CLIENT_METADATA_HOSTS=*`: documents of any public host, how often they are fetched, and
 * what the user is shown of an application that no one vouches for.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { afterEach, describe, expect, it } from "vitest";
import { EGRESS_CORPUS } from "../../../../oauth-core/src/testing/corpora/egress-corpus.ts";
import { recordingNetwork } from "../../../../oauth-core/src/testing/network/recording-network.ts";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { expectPage, openStubServerFixture, type StubServerFixture } from "../../testing/server-fixture.ts";
import { createClientDocuments, publicDocumentEgress } from "./metadata-document.ts";

const idAt = (host: string, path = "id.json"): string => `https://${host}/${path}`;
const backOf = (client_id: string): string => `https://back.${new URL(client_id).host}/cb`;
const document = (client_id: string, more: object = {}) => ({
  client_id,
  client_name: "Trustworthy Desktop",
  redirect_uris: [backOf(client_id)],
  ...more,
});

let fixture: StubServerFixture;
let asked: string[];
afterEach(() => fixture.close());

const open = async (answer: (url: string) => Response, hosts: readonly string[] = ["*"]): Promise<void> => {
  asked = [];
  const fetchDocument: Fetch = async (url) => {
    asked.push(String(url));
    return answer(String(url));
  };
  fixture = await openStubServerFixture({ fetchDocument, callback: { clientMetadataHosts: hosts } });
};
const ask = (client_id: string, address = "198.51.100.1") =>
  fixture.request(
    `/authorize?${new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: backOf(client_id),
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    }).toString()}`,
    {},
    address,
  );
const kept = (url: string): Response => Response.json(document(url), { headers: { "cache-control": "no-store" } });

describe("bar#AS-10 the consent page of a client at any host", () => {
  it("has the host of its id and of its redirect URI, as A-labels, before the name it chose", async () => {
    await open(kept);
    const id = idAt("xn--bcher-kva.example");
    const html = await (await ask(id)).text();
    const places = ["xn--bcher-kva.example", "back.xn--bcher-kva.example", "Trustworthy Desktop"].map((text) =>
      html.indexOf(text),
    );
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe("bar#AS-13 with * a document is fetched", () => {
  it.each([
    ["from another port", "https://client.example:8443/id.json"],
    ["over http", "http://client.example/id.json"],
    ["from loopback", "https://127.0.0.1/id.json"],
    ["from localhost", "https://localhost/id.json"],
    ["from loopback over http, although the operator permits it", "http://127.0.0.1/id.json"],
    ["from the root", "https://client.example/"],
  ])("not %s", async (_what, client_id) => {
    await open(kept);
    await expectPage(await ask(client_id));
    expect(asked).toEqual([]);
  });

  it("from loopback where that host is listed beside it", async () => {
    await open(kept, ["*", "localhost:9000"]);
    expect((await ask("http://localhost:9000/id.json")).status).toBe(200);
  });

  it("10 times a minute at most from one host, whoever asks, and the page says to wait", async () => {
    await open(kept);
    const id = idAt("client.example");
    for (let index = 0; index < 10; index += 1) expect((await ask(id, `198.51.100.${index}`)).status).toBe(200);
    const answer = await ask(idAt("client.example", "other.json"), "198.51.100.77");
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(await expectPage(answer, 429)).toContain("Wait a minute");
    expect(asked).toHaveLength(10);
    expect((await ask(idAt("another.example"))).status).toBe(200);
    fixture.clock.advance(60);
    expect((await ask(id)).status).toBe(200);
  });

  it("30 times a minute at most for one address, and what is kept is not fetched", async () => {
    await open((url) => Response.json(document(url)));
    for (let index = 0; index < 30; index += 1) expect((await ask(idAt(`c${index}.example`))).status).toBe(200);
    await expectPage(await ask(idAt("c30.example")), 429);
    expect(asked).toHaveLength(30);
    expect((await ask(idAt("c7.example"))).status).toBe(200);
    expect((await ask(idAt("c31.example"), "198.51.100.2")).status).toBe(200);
    fixture.clock.advance(60);
    expect((await ask(idAt("c30.example"))).status).toBe(200);
  });

  it("not again for a minute after it failed, and other documents of the host are", async () => {
    let isUp = false;
    await open((url) => (isUp || url.endsWith("good.json") ? kept(url) : new Response("", { status: 500 })));
    const id = idAt("client.example");
    for (let index = 0; index < 5; index += 1) {
      expect(await expectPage(await ask(id))).toContain("client_metadata_document");
    }
    expect(asked).toHaveLength(1);
    expect((await ask(idAt("client.example", "good.json"))).status).toBe(200);
    isUp = true;
    fixture.clock.advance(59);
    await expectPage(await ask(id));
    fixture.clock.advance(1);
    expect((await ask(id)).status).toBe(200);
  });

  it("and a listed host is not counted", async () => {
    await open(kept, ["*", "client.example"]);
    for (let index = 0; index < 40; index += 1) expect((await ask(idAt("client.example"))).status).toBe(200);
    expect(asked).toHaveLength(40);
  });

  it("never from an address inside, also where the operator permits loopback and networks", async () => {
    await open(kept);
    const corpus = EGRESS_CORPUS.map(({ url, label, resolvesTo }) => ({ url, label, resolvesTo }));
    const names = new Map(corpus.map(({ url, resolvesTo }) => [URL.parse(url)?.hostname ?? "", resolvesTo ?? []]));
    const network = recordingNetwork(names);
    const settings = { egress: { allowLoopback: true, allowCidrs: ["10.0.0.0/8"] }, deploymentUrl: SERVER };
    const egress = createEgress(publicDocumentEgress(settings), network.deps);
    let time = 0;
    const documents = createClientDocuments({
      fetch: () => Promise.reject(new Error("only for listed hosts")),
      fetchPublic: egress.fetchUntrusted,
      hosts: ["*"],
      allowLoopback: true,
      now: () => (time += 60),
    });
    let tried = 0;
    for (const { url, label } of [...corpus, { url: `${SERVER}/mcp`, label: "ourselves" }]) {
      if (!documents.has(url)) continue;
      tried += 1;
      await expect(documents.find(url), label).rejects.toMatchObject({ code: "invalid_client" });
    }
    expect(tried).toBeGreaterThan(50);
    expect(network.sockets).toEqual([]);
    await egress.close();
  });
});
