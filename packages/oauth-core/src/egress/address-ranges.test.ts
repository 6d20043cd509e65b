import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCidrMatcher, isLoopbackAddress, isPrivateName, isPublicAddress } from "./address-ranges.ts";
import { words } from "../testing/corpora/words.ts";

fc.configureGlobal({ seed: 1 });

describe("isPublicAddress", () => {
  // Addresses next to each special range, which a mask one bit too wide would lose.
  const NEIGHBOURS =
    words(`1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
    169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255
    192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 8.8.8.8 1.1.1.1`);

  it.each(NEIGHBOURS)("bar#EG-3 passes %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(
    words(`2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 2a00:1450:4001::2e 3ffe::1
    2606:4700::5eff:7f00:1`),
  )("bar#EG-2 passes %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it("bar#EG-3 refuses every address of the special IPv4 ranges", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const starts = words(`0 10 127 169.254 192.168 192.0.0 192.0.2 192.88.99 198.51.100 203.0.113`);
    fc.assert(
      fc.property(fc.constantFrom(...starts), octet, octet, octet, (start, a, b, c) => {
        const address = `${start}.${a}.${b}.${c}`.split(".").slice(0, 4).join(".");
        expect([address, `::ffff:${address}`, `64:ff9b::${address}`].filter(isPublicAddress)).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 224, max: 255 }), octet, (a, b) => {
        expect(isPublicAddress(`${a}.${b}.1.1`)).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 64, max: 127 }), octet, (a, b) => {
        expect(isPublicAddress(`100.${a}.${b}.1`)).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 16, max: 31 }), octet, (a, b) => {
        expect(isPublicAddress(`172.${a}.${b}.1`)).toBe(false);
      }),
    );
  });

  it("bar#EG-2 refuses everything outside 2000::/3", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(group, fc.array(group, { minLength: 7, maxLength: 7 }), (first, rest) => {
        const address = [first, ...rest].map((value) => value.toString(16)).join(":");
        fc.pre(first < 0x2000 || first > 0x3fff);
        expect(isPublicAddress(address)).toBe(false);
      }),
    );
  });

  it.each([
    "",
    "localhost",
    "8.8.8",
    "8.8.8.8 ",
    "8.8.8.8/32",
    "008.8.8.8",
    "2606:4700::1111%eth0",
    "[2606:4700::1111]",
  ])("refuses %j, which is not plainly an address", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe("isLoopbackAddress", () => {
  it.each(["127.0.0.1", "127.255.255.255", "::1"])("knows %s", (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  );
  it.each([...words(`126.255.255.255 128.0.0.0 0.0.0.0 :: ::ffff:127.0.0.1 ::127.0.0.1 ::1%lo localhost`), ""])(
    "does not take %j for it",
    (address) => expect(isLoopbackAddress(address)).toBe(false),
  );
});

describe("isPrivateName", () => {
  it.each(
    words(`localhost localhost. a.localhost metadata.google.internal printer.local router.home.arpa redis
    vendor.example.`),
  )("bar#EG-5 refuses %s", (name) => expect(isPrivateName(name)).toBe(true));
  it.each(["vendor.example", "notlocalhost.example", "internal.example.com", "mylocal.dev", "xn--mnchen-3ya.example"])(
    "bar#EG-5 passes %s",
    (name) => expect(isPrivateName(name)).toBe(false),
  );
});

describe("createCidrMatcher", () => {
  it("matches what lies in one of the networks, of its own family", () => {
    const matches = createCidrMatcher(["10.20.0.0/16", "fd00:1234::/32"]);
    expect(["10.20.0.1", "10.20.255.255", "fd00:1234::1"].map(matches)).toEqual([true, true, true]);
    expect(
      ["10.21.0.0", "10.19.255.255", "fd00:1235::1", "::1", "fd00:1234::1%eth0", "vendor.example"].map(matches),
    ).toEqual(Array.from({ length: 6 }, () => false));
  });

  it("matches nothing without networks", () => {
    expect(createCidrMatcher([])("10.0.0.1")).toBe(false);
  });

  it.each([
    ...words(`10.0.0.0 10.0.0.0/33 fd00::/129 10.0.0/8 vendor.example/8 10.0.0.0/-1 10.0.0.0/8/8 fe80::%eth0/64`),
    "",
  ])("throws for %j", (cidr) => expect(() => createCidrMatcher([cidr])).toThrow("not a network in CIDR notation"));
});
