import { createSocket, type Socket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { askDns, DNS_LIMITS } from "./lookup.ts";

describe("askDns", () => {
  const servers: Socket[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /**
   * A DNS server on loopback (rfc1035#4) that answers each record type with these addresses, or not
   * at all.
   */
  async function startDns(records: Readonly<Record<number, readonly Buffer[]>>): Promise<Resolver> {
    const server = createSocket("udp4");
    servers.push(server);
    server.on("message", (query, { port, address }) => {
      const end = query.indexOf(0, 12) + 5;
      const type = query.readUInt16BE(end - 4);
      const found = records[type];
      if (found === undefined) return;
      const header = Buffer.alloc(12);
      query.copy(header, 0, 0, 2);
      header.writeUInt16BE(0x8180, 2);
      header.writeUInt16BE(1, 4);
      header.writeUInt16BE(found.length, 6);
      const answers = found.map((data) =>
        Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]),
      );
      server.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address);
    });
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    const resolver = new Resolver({ timeout: 50, tries: 1 });
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
    return resolver;
  }

  const A = 1;
  const AAAA = 28;
  const V4 = Buffer.from([8, 8, 8, 8]);
  const PRIVATE_V4 = Buffer.from([10, 0, 0, 1]);
  const V6 = Buffer.from("26064700000000000000000000001111", "hex");

  it("bar#EG-4 answers every address of both families", async () => {
    const resolver = await startDns({ [A]: [V4, PRIVATE_V4], [AAAA]: [V6] });
    const addresses = await askDns("vendor.example", resolver);
    expect(addresses.toSorted((a, b) => a.address.localeCompare(b.address))).toEqual([
      { address: "10.0.0.1", family: 4 },
      { address: "2606:4700::1111", family: 6 },
      { address: "8.8.8.8", family: 4 },
    ]);
  });

  it.each([
    ["has no records", []],
    ["does not answer", undefined],
  ])("answers one family when the other %s", async (_what, nothing) => {
    const only4 = await startDns({ [A]: [V4], ...(nothing === undefined ? {} : { [AAAA]: nothing }) });
    expect(await askDns("vendor.example", only4)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    const only6 = await startDns({ [AAAA]: [V6], ...(nothing === undefined ? {} : { [A]: nothing }) });
    expect(await askDns("vendor.example", only6)).toEqual([{ address: "2606:4700::1111", family: 6 }]);
  });

  it("rejects when neither family is there", async () => {
    await expect(askDns("vendor.example", await startDns({}))).rejects.toThrow("ETIMEOUT");
    await expect(askDns("vendor.example", await startDns({ [A]: [], [AAAA]: [] }))).rejects.toThrow("ENODATA");
  });

  it("gives up before the time for connecting is over", () => {
    expect(DNS_LIMITS.tries * DNS_LIMITS.maxTimeout).toBeLessThan(3_000 / 2);
  });
});
