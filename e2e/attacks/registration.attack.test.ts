/**
 * Attacker: a platform that registers clients through the broker. Goal: a client at an honest
 * vendor that sends users to the attacker in the broker's name (redirect URIs), another vendor than
 * a gateway in front of the broker saw, or credentials that were made for another platform.
 * Defence: the broker registers only its own metadata (clientMetadata), a request has one reading
 * (parseJsonObject), and each registration is new (registerClient).
 */
import * as clientMetadataModule from "../../packages/oauth-core/src/vendor-client/registration/client-metadata.ts";
import * as strictJsonModule from "../../packages/oauth-core/src/protocol/strict-json.ts";
import * as registerModule from "../../packages/oauth-core/src/vendor-client/registration/register.ts";
import { describe, expect, it } from "vitest";
import { CALLBACK } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { hostOf, IAT, setUpRegistration } from "./support/registration-fixture.ts";
import type { OutboundRequest } from "./support/fixture.ts";

const redirectUrisOf = (request: OutboundRequest | undefined): unknown =>
  (JSON.parse(request?.body ?? "{}") as { redirect_uris?: unknown }).redirect_uris;

const EVIL_URI = "https://evil.example/take";

describe("bar#DC-1 a redirect URI of the caller's", () => {
  const evil = JSON.stringify([EVIL_URI]);

  it.each([
    ["beside the vendor", `{"vendor":"honest","redirect_uris":${evil}}`],
    ["before it", `{"redirect_uris":${evil},"vendor":"honest"}`],
    ["in other words", `{"vendor":"honest","redirect_uri":"${EVIL_URI}","redirectUris":${evil}}`],
    ["as metadata", `{"vendor":"honest","client_metadata":{"redirect_uris":${evil}},"software_statement":"x.y.z"}`],
    ["with an escape", `{"vendor":"honest","redirect_\\u0075ris":${evil}}`],
    ["through the prototype", `{"vendor":"honest","__proto__":{"redirect_uris":${evil}}}`],
    ["through the constructor", `{"vendor":"honest","constructor":{"prototype":{"redirect_uris":${evil}}}}`],
    ["in the vendor", JSON.stringify({ vendor: `honest","redirect_uris":${evil},"x":"` })],
    ["in the token", JSON.stringify({ vendor: "honest", initial_access_token: `x\r\n\r\n{"redirect_uris":${evil}}` })],
    [
      "in the token's quotes",
      JSON.stringify({ vendor: "honest", initial_access_token: `x","redirect_uris":${evil},"y":"` }),
    ],
  ])("is not registered, %s", async (_title, body) => {
    const { register, registrations } = await setUpRegistration();
    const { status } = await register(body);
    expect([201, 400]).toContain(status);
    expect(registrations().map(redirectUrisOf)).toEqual(status === 201 ? [[CALLBACK]] : []);
    expect(
      registrations()
        .map(({ body: sent }) => sent)
        .join(""),
    ).not.toContain("evil");
  });

  it("bar#DC-1 twin: with the caller's metadata a client in our name sends users to the attacker", async () => {
    const members = { redirect_uris: [EVIL_URI] };
    without(clientMetadataModule, ({ clientMetadata }) => ({
      clientMetadata: (...call) => ({ ...clientMetadata(...call), ...members }),
    }));
    const { register, registrations } = await setUpRegistration();
    expect((await register({ vendor: "honest", ...members })).status).toBe(201);
    expect(JSON.parse(registrations()[0]?.body ?? "")).toMatchObject({
      client_name: "OAuth broker",
      redirect_uris: [EVIL_URI],
    });
  });
});

describe("bar#HT-3 a vendor named twice, past a gateway that reads the first name only", () => {
  const bodies = ['{"vendor":"honest","vendor":"evil"}', '{"vendor":"honest","v\\u0065ndor":"evil"}'];

  it("is refused", async () => {
    const { register, registrations } = await setUpRegistration();
    for (const body of bodies) expect((await register(body)).status).toBe(400);
    expect(registrations()).toEqual([]);
  });

  it("bar#HT-3 twin: with JSON.parse the other vendor is asked", async () => {
    without(strictJsonModule, () => ({ parseJsonObject: (text) => JSON.parse(text) }));
    const { register, registrations } = await setUpRegistration();
    for (const body of bodies) expect((await register(body)).status).toBe(201);
    expect(registrations().map(hostOf)).toEqual(["evil.example", "evil.example"]);
  });
});

describe("credentials that were made for one caller", () => {
  async function registerTwo() {
    const { register, registrations, fixture } = await setUpRegistration();
    const made = [await register({ vendor: "honest" }), await register({ vendor: "honest" }, "other")];
    return {
      secrets: made.map(({ body }) => (JSON.parse(body) as { client_secret: string }).client_secret),
      registrations,
      fixture,
    };
  }

  it("are shared with no other caller: each caller gets new ones", async () => {
    const { secrets, registrations } = await registerTwo();
    expect(secrets).toEqual(["made-s3cret-1", "made-s3cret-2"]);
    expect(registrations()).toHaveLength(2);
  });

  it("twin: with a registration that is kept, the second caller has the first one's secret", async () => {
    // As a broker that saves itself, and the vendor, a request.
    const saved = new Map<string, ReturnType<typeof registerModule.registerClient>>();
    without(registerModule, ({ registerClient }) => ({
      registerClient: (vendor, ...rest) => {
        const known = saved.get(vendor.id) ?? registerClient(vendor, ...rest);
        saved.set(vendor.id, known);
        return known;
      },
    }));
    expect((await registerTwo()).secrets).toEqual(["made-s3cret-1", "made-s3cret-1"]);
  });

  it("bar#BY-1 bar#OB-2 stand in no line of the log, in no other answer, and in no metric", async () => {
    const { register, fixture } = await setUpRegistration();
    await register({ vendor: "honest", initial_access_token: "iat-of-the-caller-s3cret" });
    await register({ vendor: "unknown", initial_access_token: "iat-of-the-caller-s3cret" });
    const made = fixture.exchanges.length;
    for (const path of ["/metrics", "/v1/vendors", "/v1/vendors/honest", "/openapi.json", "/"])
      await fixture.request(path);
    const output = [...fixture.logLines, ...fixture.exchanges.slice(made - 1).map(({ body }) => body)].join("\n");
    expect(output).not.toMatch(/s3cret|client-1/);
    expect(output).not.toContain(IAT);
    expect(fixture.logLines.join("")).toContain('"route":"/register"');
  });
});
