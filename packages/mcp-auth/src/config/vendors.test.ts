import { describe, expect, it } from "vitest";
import { type Environment, loadSettings } from "../config.ts";
import { HOSTED, loadHosted as hosted, PRE_REGISTERED, problemsOf, SERVER, SEVERAL } from "../testing/environments.ts";
import { collide } from "./reader.ts";

describe("several vendors", () => {
  it("each have their own variables, and the first signs users in", () => {
    const { vendor, links, callback, warnings } = hosted({ ...SEVERAL, VENDOR_SLACK_API_HOSTS: "api.example.com" });
    expect(warnings).toEqual([]);
    expect(callback).toMatchObject({ kind: "server", redirectUri: "https://server.example.com/callback" });
    expect([...(links.vendors.keys() ?? [])]).toEqual(["main", "slack"]);
    expect(links.signIn).toBe("main");
    expect(links.vendors.get("main")).toEqual(vendor);
    expect(vendor).toMatchObject({ vendor: { id: "main" }, scopes: ["openid", "read"] });
    const slack = links.vendors.get("slack");
    expect(slack).toMatchObject({ vendor: { name: "Slack" }, credentials: { clientId: "our-slack-id" } });
    expect(slack?.scopes).toEqual(slack?.vendor.defaultScopes);
    expect(slack?.apiHosts).toContain("api.example.com");
  });

  it("have defaults for their lives, and numbers of the operator's", () => {
    expect(hosted(SEVERAL).links).toMatchObject({
      elicitationWaitSeconds: 25,
      sessionMaxSeconds: 30 * 86_400,
      endLinksWithLastSession: false,
      adoptSignIn: false,
    });
    const { links, warnings } = hosted({
      ...SEVERAL,
      ELICITATION_WAIT_SECONDS: "0",
      SESSION_MAX_DAYS: "7",
      END_LINKS_WITH_LAST_SESSION: "true",
      ADOPT_SIGN_IN: "true",
    });
    expect(links).toMatchObject({
      elicitationWaitSeconds: 0,
      sessionMaxSeconds: 7 * 86_400,
      endLinksWithLastSession: true,
      adoptSignIn: true,
    });
    expect(warnings).toEqual([expect.stringContaining("ADOPT_SIGN_IN is set: sessions of another sign-in vendor end")]);
  });

  it("sign in where SIGN_IN says, and come back to this server whatever the platform sets", () => {
    const { vendor, links, callback } = hosted({
      ...SEVERAL,
      SIGN_IN: "slack",
      PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
    });
    expect(links.signIn).toBe("slack");
    expect(vendor.vendor.id).toBe("slack");
    expect(callback.kind).toBe("server");
  });

  it("may be aliases, whose ids as written name variables and whose rows are the registry's", () => {
    const { links } = hosted({
      ...SEVERAL,
      VENDORS: "main, jira",
      VENDOR_SLACK_CLIENT_ID: "",
      VENDOR_SLACK_CLIENT_SECRET: "",
      VENDOR_JIRA_CLIENT_ID: "our-jira-id",
    });
    expect(links.vendors.get("jira")?.vendor.id).toBe("atlassian");
  });

  it("are warned of under their own names", () => {
    const warnings = (changes: Environment) => hosted({ ...SEVERAL, ...changes }).warnings;
    expect(warnings({ VENDOR_SLACK_TOKEN_URL: "https://gateway.example.com/token" })).toEqual([
      expect.stringMatching(/^VENDOR_SLACK_TOKEN_URL is at another domain .* VENDOR_SLACK_API_HOSTS$/),
    ]);
    expect(warnings({ VENDOR_SLACK_SCOPE: "a" })).toEqual([
      "VENDOR_SLACK_SCOPE is set, and not known here: did you mean VENDOR_SLACK_SCOPES?",
    ]);
    const google = { VENDORS: "main,slack,google-workspace", VENDOR_GOOGLE_WORKSPACE_CLIENT_ID: "our-google-id" };
    expect(warnings(google)).toEqual([
      "VENDOR_GOOGLE_WORKSPACE_CLIENT_SECRET is not set: if your client at google-workspace of VENDORS has a secret, no user can authorize without it",
      "google-workspace of VENDORS approves each organization first: until then no user can authorize",
    ]);
  });

  it("and their variables are not used with VENDOR alone", () => {
    const { links, warnings } = hosted({
      ...SERVER,
      OAUTH_CLIENT_METADATA_HOSTS: "a.example.com",
      SESSION_MAX_DAYS: "7",
      ADOPT_SIGN_IN: "true",
    });
    expect(links.kind).toBe("one");
    expect(warnings).toEqual([
      "SESSION_MAX_DAYS is set, and not used without VENDORS",
      "ADOPT_SIGN_IN is set, and not used without VENDORS",
    ]);
  });
});

it("a port for metrics is off unless it is set, in both modes", () => {
  for (const environment of [PRE_REGISTERED, HOSTED, SEVERAL]) {
    expect(loadSettings(environment).metricsPort).toBeUndefined();
    expect(loadSettings({ ...environment, METRICS_PORT: "9464" })).toMatchObject({ metricsPort: 9464 });
  }
  expect(problemsOf({ ...HOSTED, METRICS_PORT: "70000" })).toEqual([
    "METRICS_PORT must be a whole number from 0 to 65535",
  ]);
  expect(problemsOf({ ...HOSTED, METRICS_PORT: "8788" })).toEqual(["METRICS_PORT must be another port than PORT"]);
});

describe("several vendors are refused", () => {
  it.each<[string, Environment, string]>([
    ["beside one", { VENDOR: "github" }, "VENDOR is set beside VENDORS"],
    [
      "with a variable of one",
      { VENDOR_CLIENT_ID: "x" },
      "VENDOR_CLIENT_ID is set beside VENDORS: each vendor has its own, VENDOR_<ID>_CLIENT_ID",
    ],
    ["with the hosts of one", { VENDOR_API_HOSTS: "a.example.com" }, "VENDOR_API_HOSTS is set beside VENDORS"],
    [
      "with a variable of another",
      { VENDOR_SLAK_CLIENT_ID: "x" },
      "VENDOR_SLAK_CLIENT_ID is of a vendor that VENDORS does not list",
    ],
    ["that are none", { VENDORS: " , ", VENDOR_MAIN_CLIENT_ID: "" }, "VENDORS names no vendor"],
    ["that are the same", { VENDORS: "main,slack,main" }, "VENDORS has main more than once"],
    [
      "that are one entry",
      { VENDORS: "main,slack,jira,confluence", VENDOR_JIRA_CLIENT_ID: "x", VENDOR_CONFLUENCE_CLIENT_ID: "y" },
      "VENDORS has jira and confluence, which are one vendor of the registry",
    ],
    [
      "that are one client",
      {
        VENDORS: "main,slack,again",
        VENDOR_AGAIN_ISSUER: "https://main.example.com",
        VENDOR_AGAIN_CLIENT_ID: "our-id",
      },
      "VENDORS has main and again with one issuer and one client id",
    ],
    [
      "that are one client of a vendor without issuer",
      {
        VENDORS: "main,slack,one,other",
        ...Object.fromEntries(
          ["ONE", "OTHER"].flatMap((id) => [
            [`VENDOR_${id}_AUTHORIZATION_URL`, "https://vendor.example.com/authorize"],
            [`VENDOR_${id}_TOKEN_URL`, `https://vendor.example.com/token?of=${id}`],
            [`VENDOR_${id}_CLIENT_ID`, "the-same"],
          ]),
        ),
      },
      "VENDORS has one and other with one issuer and one client id",
    ],
    [
      "whose variables read alike",
      {
        VENDORS: "main,slack,slack-client",
        VENDOR_SLACK_CLIENT_CLIENT_ID: "x",
        VENDOR_SLACK_CLIENT_ISSUER: "https://c.example.com",
      },
      "VENDORS has slack and slack-client, whose variables VENDOR_SLACK_… and VENDOR_SLACK_CLIENT_… are mixed up",
    ],
    ["with an id that is none", { VENDORS: "main,slack,A_b" }, "VENDORS has an entry that must be a vendor id"],
    [
      "with one of the operator's own that has no endpoints",
      { VENDORS: "main,slack,own", VENDOR_OWN_CLIENT_ID: "x" },
      "VENDORS has own, which is not a vendor of the registry, and one of your own needs VENDOR_OWN_ISSUER, or VENDOR_OWN_AUTHORIZATION_URL and VENDOR_OWN_TOKEN_URL",
    ],
    ["without a client at one", { VENDOR_SLACK_CLIENT_ID: "" }, "VENDOR_SLACK_CLIENT_ID is missing"],
    [
      "with a URL of one that is not https",
      { VENDOR_MAIN_JWKS_URL: "http://main.example.com/jwks" },
      "VENDOR_MAIN_JWKS_URL must use https",
    ],
    [
      "with placeholders that do not fit",
      { VENDOR_SLACK_PLACEHOLDERS: "{" },
      "VENDOR_SLACK_PLACEHOLDERS does not fit the vendor's URLs",
    ],
    [
      "with one that nothing binds a code to",
      { VENDOR_SLACK_PKCE: "none" },
      "ALLOW_VENDOR_WITHOUT_PKCE is not true, and slack of VENDORS has neither PKCE nor ID tokens (an issuer, and openid among VENDOR_SLACK_SCOPES)",
    ],
    ["with a sign-in at another", { SIGN_IN: "github" }, "SIGN_IN is not one of VENDORS"],
    [
      "with a sign-in that identifies no users",
      { VENDOR_MAIN_SCOPES: "read" },
      "VENDORS has main, which does not identify its users, and is to sign them in: set VENDOR_MAIN_USERINFO_URL, VENDOR_MAIN_ACCOUNT_URL with VENDOR_MAIN_IDENTITY, or VENDOR_MAIN_ISSUER with openid among VENDOR_MAIN_SCOPES",
    ],
    [
      "with the platform's callback",
      { OAUTH_CALLBACK: "platform", PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback" },
      "OAUTH_CALLBACK must be server with VENDORS",
    ],
    ["in the other mode", { OAUTH_MODE: "pre-registered" }, "VENDORS is for hosted mode"],
    ["with a wait that is too long", { ELICITATION_WAIT_SECONDS: "301" }, "ELICITATION_WAIT_SECONDS must be a whole"],
    ["with sessions of no length", { SESSION_MAX_DAYS: "0" }, "SESSION_MAX_DAYS must be a whole number from 1 to 365"],
    ["with a flag that is none", { END_LINKS_WITH_LAST_SESSION: "yes" }, "END_LINKS_WITH_LAST_SESSION must be true or"],
    ["with a consent that is none", { ADOPT_SIGN_IN: "1" }, "ADOPT_SIGN_IN must be true or false"],
  ])("%s", (_, changes, problem) => {
    const problems = problemsOf({ ...SEVERAL, ...changes });
    expect(problems).toContainEqual(expect.stringContaining(problem));
    if (changes["VENDOR_MAIN_CLIENT_ID"] !== "") expect(problems, problems.join("\n")).toHaveLength(1);
  });

  it("and so is a sign-in without them", () => {
    expect(problemsOf({ ...SERVER, SIGN_IN: "my-vendor" })).toEqual(["SIGN_IN is set without VENDORS"]);
  });

  it("with all problems at once, by name", () => {
    const problems = problemsOf({
      ...SEVERAL,
      VENDORS: "main,slack,slack-token,jira,confluence",
      VENDOR: "github",
      VENDOR_SCOPES: "a",
      VENDOR_OTHER_SCOPES: "a",
      SIGN_IN: "nowhere",
      OAUTH_CALLBACK: "platform",
      PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
      SESSION_MAX_DAYS: "x",
      ELICITATION_WAIT_SECONDS: "-1",
      METRICS_PORT: "x",
    });
    const paths = problems.map((problem) => problem.split(" ")[0]);
    expect(new Set(paths)).toEqual(
      new Set([
        "METRICS_PORT",
        "ELICITATION_WAIT_SECONDS",
        "SESSION_MAX_DAYS",
        "VENDOR",
        "VENDOR_SCOPES",
        "VENDORS",
        "VENDOR_OTHER_SCOPES",
        "SIGN_IN",
        "VENDOR_SLACK_TOKEN_CLIENT_ID",
        "VENDOR_JIRA_CLIENT_ID",
        "VENDOR_CONFLUENCE_CLIENT_ID",
        "OAUTH_CALLBACK",
      ]),
    );
  });
});

it.each([
  ["a", "a-client", true],
  ["a-client", "a", true],
  ["a", "a-pkce", true],
  ["google", "google-workspace", false],
  ["a", "ab", false],
  ["a", "b-client", false],
])("the variables of %s and %s read alike: %s", (one, other, is) => {
  expect(collide(one, other)).toBe(is);
});
