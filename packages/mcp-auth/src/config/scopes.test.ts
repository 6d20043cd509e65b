/** `VENDOR_SCOPES` as an author writes it, and names that are misspelt. */
import { expect, it } from "vitest";
import { loadSettings } from "../config.ts";
import { HOSTED, loadHosted, NO_URLS, PRE_REGISTERED, problemsOf, SEVERAL } from "../testing/environments.ts";

it.each([
  ["read,write", ["read", "write"]],
  ["read, write", ["read", "write"]],
  ["read write", ["read", "write"]],
  [",read,,write,", ["read", "write"]],
])("a vendor that writes commas takes them: %s", (VENDOR_SCOPES, scopes) => {
  const slack = { ...PRE_REGISTERED, ...NO_URLS, VENDOR: "slack", VENDOR_SCOPES };
  expect(loadSettings(slack).vendor.scopes).toEqual(scopes);
  const { links } = loadHosted({ ...SEVERAL, VENDOR_SLACK_SCOPES: VENDOR_SCOPES });
  expect(links.vendors.get("slack")?.scopes).toEqual(scopes);
});

it.each(["read,write", "read, write", "read write,", "read,"])("any other refuses them: %s", (scopes) => {
  const problem = "has a comma: separate scopes by spaces";
  expect(problemsOf({ ...PRE_REGISTERED, VENDOR_SCOPES: scopes })).toEqual([`VENDOR_SCOPES ${problem}`]);
  expect(problemsOf({ ...HOSTED, VENDOR_SCOPES: scopes })).toEqual([`VENDOR_SCOPES ${problem}`]);
  expect(problemsOf({ ...SEVERAL, VENDOR_MAIN_SCOPES: `openid ${scopes}` })).toEqual([`VENDOR_MAIN_SCOPES ${problem}`]);
});

it("a misspelt name is reported with what is missing, and not its value", () => {
  const { VENDOR_SLACK_CLIENT_ID: _, ...lacking } = SEVERAL;
  const problems = problemsOf({ ...lacking, VENDOR_SLACK_SECRET: "hush", VENDOR_SLACK_CLIENT: "hush" });
  expect(problems).toContain("VENDOR_SLACK_CLIENT_ID is missing: hosted mode is a client of the vendor");
  expect(problems).toContain(
    "VENDOR_SLACK_SECRET is set, and not known here: did you mean VENDOR_SLACK_CLIENT_SECRET?",
  );
  expect(problems.join()).toContain(
    "VENDOR_SLACK_CLIENT is set, and not known here: did you mean VENDOR_SLACK_CLIENT_",
  );
  expect(problems.join()).not.toContain("hush");
  const alone = problemsOf({ ...HOSTED, VENDOR_CLIENT_ID: "", VENDOR_GITHUB_SECRET: "hush" });
  expect(alone.join()).toContain("VENDOR_GITHUB_SECRET is set, and not known here: did you mean VENDOR_CLIENT_SECRET?");
});

it("and where the server starts all the same, as a warning", () => {
  expect(loadSettings({ ...SEVERAL, VENDOR_SLACK_SECRET: "hush" }).warnings).toEqual([
    "VENDOR_SLACK_SECRET is set, and not known here: did you mean VENDOR_SLACK_CLIENT_SECRET?",
  ]);
});
