import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { createLog } from "@oauth-broker/service";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { type Environment, loadSettings } from "../config.ts";
import { requireSignIn } from "../hosted/sessions/sign-in-source.ts";
import { openStorage } from "../storage.ts";
import { loadHosted } from "../testing/environments.ts";
import { deskEnvironment } from "./environment.ts";
import { startPracticeVendors } from "./practice-vendor.ts";
import { fetchTestToken } from "./test-token.ts";

const FIRST_CLASS = [...REGISTRY.values()].flatMap(({ vendor, verification }) =>
  verification.status === "first-class" ? [vendor.id] : [],
);
const WITHOUT_TOKEN_CHECK = ["linear", "microsoft-agent365", "notion"];
/** Requires a resource in the authorization request, which only the platform knows. */
const NO_TEST_TOKEN = "atlassian";
const ASKED = FIRST_CLASS.filter((id) => ![...WITHOUT_TOKEN_CHECK, NO_TEST_TOKEN].includes(id));
/** No source says that their tokens identify a user permanently. */
const WITHOUT_USER = ["linear", "notion"];
const HOSTED = FIRST_CLASS.filter((id) => !WITHOUT_USER.includes(id));
const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 5_000 });
const vendorClient = createVendorClient({
  fetch: egress.fetch,
  timer: systemTimer,
  now: systemClock,
  allowLoopback: true,
});
afterAll(() => egress.close());

async function onDesk<Result>(
  given: Environment,
  run: (desk: { about: string; environment: Environment; app: Environment; redirectUri: string }) => Promise<Result>,
): Promise<Result> {
  const desk = deskEnvironment(given);
  const vendor = await startPracticeVendors(given, { ...desk, homeUrl: desk.url, name: "my-server" });
  try {
    const environment = { ...given, ...desk.environment, ...vendor.environment };
    const app = { ...environment, ...vendor.app, OAUTH_MODE: "hosted" };
    return await run({ about: vendor.about, environment, app, redirectUri: desk.redirectUri });
  } finally {
    await vendor.close();
  }
}

describe("a practice vendor", () => {
  it.each(WITHOUT_TOKEN_CHECK)("%s: has no endpoint to check a token at, in practice as in production", async (id) => {
    await onDesk({ OAUTH_MODE: "pre-registered", VENDOR: id }, async ({ environment }) => {
      expect(() => loadSettings(environment)).toThrow(
        /VENDOR (has no endpoint that says|cannot be asked) whether a user's token is good/,
      );
    });
  });

  it.each([...ASKED, "my-own"])("%s: a practice user's token is good in pre-registered mode", async (id) => {
    await onDesk({ OAUTH_MODE: "pre-registered", VENDOR: id }, async ({ environment, app, redirectUri }) => {
      const settings = loadSettings(environment).vendor;
      const token = await fetchTestToken(loadSettings(app).vendor, redirectUri);
      const vendor = await vendorClient.resolve(settings.vendor);
      expect(await vendorClient.validateAccessToken(vendor, token, settings.credentials)).toMatchObject({
        active: true,
        user: expect.stringMatching(/./),
      });
    });
  });

  it.each([
    ["github", true],
    ["slack", false],
    ["my-own", true],
  ])("%s: tokens are restricted to the app where the vendor names their client (%s)", async (id, isHeldTo) => {
    await onDesk({ OAUTH_MODE: "pre-registered", VENDOR: id }, async ({ environment }) => {
      expect(loadSettings(environment).vendor.credentials !== undefined).toBe(isHeldTo);
    });
  });

  it("a practice vendor that refuses is reported in words", async () => {
    await onDesk({ OAUTH_MODE: "pre-registered", VENDOR: NO_TEST_TOKEN }, async ({ app, redirectUri }) => {
      await expect(fetchTestToken(loadSettings(app).vendor, redirectUri)).rejects.toThrow(/\S/);
    });
  });

  it.each(WITHOUT_USER)(
    "%s: hosted mode needs an account of the operator's, in practice as in production",
    async (id) => {
      await onDesk({ OAUTH_MODE: "hosted", VENDOR: id }, async ({ environment }) => {
        expect(() => loadSettings(environment)).toThrow(/VENDOR does not identify its users.*VENDOR_IDENTITY/);
      });
    },
  );

  it.each([...HOSTED, "my-own"])("%s: hosted mode starts, with the server's own callback", async (id) => {
    await onDesk({ OAUTH_MODE: "hosted", VENDOR: id, PORT: "8999", DATA_DIR: "/nowhere" }, async (desk) => {
      expect(loadSettings(desk.environment)).toMatchObject({
        mode: "hosted",
        deploymentUrl: "http://127.0.0.1:8999",
        listen: { host: "127.0.0.1", port: 8999 },
        callback: { kind: "server", redirectUri: "http://127.0.0.1:8999/callback", registration: { hosts: [] } },
      });
    });
  });

  it("is described as what it is", async () => {
    await onDesk({ VENDOR: "github" }, async ({ about }) => expect(about).toBe("a practice copy of GitHub"));
    await onDesk({ VENDOR: "my-own" }, async ({ about }) => expect(about).toContain("no practice copy of my-own:"));
    await onDesk({ VENDOR: "githb" }, async ({ about }) =>
      expect(about).toContain("githb (did you mean github?): set"),
    );
    await expect(onDesk({ OAUTH_MODE: "hosted" }, async () => undefined)).rejects.toThrow("set VENDOR, or VENDORS,");
  });

  it.each(["hosted", "pre-registered"])("%s: one in the place of another has nothing of it", async (mode) => {
    const real = {
      VENDOR_AUTHORIZATION_URL: "https://real.example.com/authorize",
      VENDOR_TOKEN_URL: "https://real.example.com/token",
      VENDOR_USERINFO_URL: "https://real.example.com/me",
      VENDOR_IDENTITY: "userinfo:id",
    };
    await onDesk({ OAUTH_MODE: mode, VENDOR: "my-own", DATA_DIR: "/nowhere", ...real }, async ({ environment }) => {
      expect(JSON.stringify(loadSettings(environment).vendor)).not.toContain("real.example.com");
    });
  });

  it("is replaced by the real vendor once VENDOR_CLIENT_ID is set", async () => {
    await onDesk({ OAUTH_MODE: "hosted", VENDOR: "github", VENDOR_CLIENT_ID: "ours" }, async (desk) => {
      expect(desk.about).toMatch(/^github itself/);
      expect(desk.environment).not.toHaveProperty("VENDOR_TOKEN_URL");
      expect(desk.environment).not.toHaveProperty("EGRESS_ALLOW_LOOPBACK");
      expect(desk.environment["VENDOR_CLIENT_ID"]).toBe("ours");
    });
  });
});

describe("with VENDORS", () => {
  const SEVERAL = { OAUTH_MODE: "hosted", VENDORS: "github, slack", DATA_DIR: "/nowhere" };
  const scopesOf = (id: string): string => REGISTRY.get(id)?.vendor.defaultScopes.join(" ") ?? "";

  it("each has a practice copy of its own, and the server starts on them", async () => {
    await onDesk(SEVERAL, async ({ about, environment }) => {
      expect(about).toBe("a practice copy of GitHub (signs users in), a practice copy of Slack");
      const vendors = [...loadHosted(environment).links.vendors.values()];
      const origins = vendors.map(({ vendor }) => new URL(vendor.tokenEndpoint ?? "").origin);
      expect(new Set(origins).size).toBe(2);
      expect(origins.every((origin) => origin.startsWith("http://127.0.0.1:"))).toBe(true);
      expect(vendors.map(({ scopes }) => scopes.join(" "))).toEqual([scopesOf("github"), scopesOf("slack")]);
    });
  });

  it("the app of each is registered with its own redirect URI", async () => {
    await onDesk({ ...SEVERAL, SIGN_IN: "slack" }, async ({ about, environment }) => {
      expect(about).toBe("a practice copy of GitHub, a practice copy of Slack (signs users in)");
      const { links } = loadHosted(environment);
      const url = environment["DEPLOYMENT_URL"] ?? "";
      for (const [id, redirectUri] of [
        ["slack", `${url}/callback`],
        ["github", `${url}/vendors/github/callback`],
      ] as const) {
        const vendor = links.vendors.get(id);
        if (vendor === undefined) throw new Error("not listed");
        expect(await fetchTestToken(vendor, redirectUri)).toEqual(expect.stringMatching(/./));
        await expect(fetchTestToken(vendor, `${url}/elsewhere`)).rejects.toThrow(/\S/);
      }
    });
  });

  it("a project that has run before starts again, whose table is of a copy that is gone", async () => {
    const folder = temporaryFolder();
    const log = createLog({ write: () => {} });
    const start = async ({ environment }: { environment: Environment }): Promise<void> => {
      const storage = await openStorage({ now: systemClock, log, environment: { DATA_DIR: folder } });
      try {
        await requireSignIn(loadHosted(environment), storage);
      } finally {
        await storage.close();
      }
    };
    await onDesk(SEVERAL, start);
    await onDesk(SEVERAL, start);
    const real = { VENDOR_GITHUB_CLIENT_ID: "ours", VENDOR_GITHUB_CLIENT_SECRET: "secret" };
    await expect(onDesk({ ...SEVERAL, ...real }, start)).rejects.toThrow("SIGN_IN is another vendor");
  });

  it("one of them may be the real one", async () => {
    const real = { VENDOR_SLACK_CLIENT_ID: "ours", VENDOR_SLACK_CLIENT_SECRET: "secret" };
    await onDesk({ ...SEVERAL, ...real }, async ({ about, environment }) => {
      expect(about).toBe("a practice copy of GitHub (signs users in), slack itself, as VENDOR_SLACK_CLIENT_ID is set");
      expect(environment).not.toHaveProperty("VENDOR_SLACK_TOKEN_URL");
      expect(environment["VENDOR_SLACK_CLIENT_ID"]).toBe("ours");
      expect(environment).toHaveProperty("VENDOR_GITHUB_TOKEN_URL");
    });
  });

  it("one of the author's own has the practice provider, under its id", async () => {
    await onDesk({ ...SEVERAL, VENDORS: "my-own,github" }, async ({ about, environment }) => {
      expect(about).toContain("VENDOR_MY_OWN_CLIENT_ID");
      expect(loadSettings(environment)).toMatchObject({ links: { signIn: "my-own" } });
    });
  });

  it("one of the registry without a copy is reported, with what to set", async () => {
    await expect(onDesk({ ...SEVERAL, VENDORS: "github,hubspot" }, async () => undefined)).rejects.toThrow(
      "There is no practice copy of hubspot: set VENDOR_HUBSPOT_CLIENT_ID and VENDOR_HUBSPOT_CLIENT_SECRET",
    );
  });
});
