import { OAuthError } from "@oauth-broker/oauth-core";
import type { Link } from "@oauth-broker/token-store";
import { describe, expect, it, vi } from "vitest";
import type { VendorRevocation } from "../hosted/links/link.ts";
import { runCommand } from "./run-command.ts";

const LINKS: readonly Link[] = [
  { user: "T1:U1", vendor: "slack", status: "active" },
  { user: "T1:U2", vendor: "slack", status: "reauthorize" },
  { user: "T1:U3", vendor: "github", status: "active" },
];

interface Given {
  readonly sessions?: number;
  readonly hasIndex?: boolean;
  readonly revocation?: VendorRevocation | undefined;
  readonly links?: readonly Link[];
  readonly fails?: Error;
}

function command({ sessions = 2, hasIndex = true, links = LINKS, fails, ...given }: Given = {}) {
  const revocation = "revocation" in given ? given.revocation : "grant";
  const [out, err, calls]: [string[], string[], string[]] = [[], [], []];
  const note = (call: string): void => void calls.push(call);
  const deps = {
    print: (line: string) => void out.push(line),
    say: (line: string) => void err.push(line),
    runTokenStore: vi.fn<(args: readonly string[]) => Promise<number>>(async () => 3),
    openLinks: async () => ({
      vendors: new Map([["slack", { id: "slack", name: "Slack" }]]),
      list: async function* (user: string | undefined) {
        if (fails !== undefined) throw fails;
        yield* links.filter((link) => user === undefined || link.user === user);
      },
      endSessions: async (user: string) => {
        note(`sessions of ${user}`);
        return { ended: sessions, hasIndex };
      },
      endPages: async () => note("pages"),
      endLink: async (user: string) => {
        note(`link of ${user}`);
        return revocation === undefined ? {} : { vendor: revocation };
      },
      close: async () => note("closed"),
    }),
  };
  return { out, err, calls, deps, run: (...args: string[]) => runCommand(args, deps, "1.2.3") };
}

describe("links list", () => {
  it("lists all users, with the status of their link", async () => {
    const { run, out, calls } = command();
    expect(await run("links", "list")).toBe(0);
    expect(out).toEqual([
      "works                 slack  T1:U1",
      "must authorize again  slack  T1:U2",
      "works                 github  T1:U3",
      "3 links.",
    ]);
    expect(calls).toEqual(["closed"]);
  });

  it("lists one user's, or none", async () => {
    const { run, out } = command();
    await run("links", "list", "T1:U3");
    await run("links", "list", "T9");
    expect(out).toEqual(["works                 github  T1:U3", "1 link.", "No links."]);
  });

  it("prints no control sequences", async () => {
    const { run, out } = command({ links: [{ user: "\u001b[2Ja\u202eb", vendor: "slack", status: "active" }] });
    await run("links", "list");
    expect(out[0]).toBe("works                 slack  ?[2Ja?b");
  });
});

describe("links revoke", () => {
  it("bar#RV-1 bar#OB-3 ends the sessions, then the link", async () => {
    const { run, out, err, calls } = command();
    expect(await run("links", "revoke", "T1:U1")).toBe(0);
    expect(calls).toEqual(["sessions of T1:U1", "link of T1:U1", "closed"]);
    expect(out).toEqual(["2 sessions ended.", "The link to Slack is removed here.", "Slack has revoked the grant."]);
    expect(err).toEqual([]);
  });

  it.each<[VendorRevocation | undefined, number, string]>([
    ["token", 0, "Slack has revoked the token."],
    ["already", 0, "Slack did not know the token any more."],
    [
      "unsupported",
      0,
      "Slack has no way to revoke tokens. The user can remove this app in the account settings there.",
    ],
    ["failed", 1, "Slack could not revoke the token now, and may still accept it."],
    [undefined, 1, "The tokens could not be read, so nothing was revoked at Slack."],
  ])("says that the vendor answered %s", async (revocation, exitCode, sentence) => {
    const { run, out, err } = command({ revocation });
    expect(await run("links", "revoke", "T1:U1")).toBe(exitCode);
    expect((exitCode === 0 ? out : err).at(-1)).toContain(sentence);
  });

  it("is also for sessions that have no link left", async () => {
    const { run, out, calls } = command({ sessions: 1 });
    expect(await run("links", "revoke", "T1:U3")).toBe(0);
    expect(calls).toEqual(["sessions of T1:U3", "closed"]);
    expect(out).toEqual(["1 session ended."]);
  });

  it("says that a user has nothing, and succeeds: a second run is no failure", async () => {
    const { run, out } = command({ sessions: 0 });
    expect(await run("links", "revoke", "T9")).toBe(0);
    expect(out).toEqual([
      "The list of sessions of T9 names none that is live.",
      "T9 has no link and no session: links list names those who do.",
    ]);
  });

  it("bar#RV-1 says that the list of sessions is missing, and ends the link", async () => {
    const { run, out } = command({ sessions: 0, hasIndex: false });
    expect(await run("links", "revoke", "T1:U1")).toBe(0);
    expect(out).toEqual([
      "There is no list of sessions of T1:U1. A session in no list is not refreshed: it ends within 60 minutes, with its access token.",
      "The link to Slack is removed here.",
      "Slack has revoked the grant.",
    ]);
  });

  it("reports an outage, and closes what it opened", async () => {
    const fails = new OAuthError("temporarily_unavailable", "The store does not answer", { detail: "tokens" });
    const { run, err, calls } = command({ fails });
    expect(await run("links", "revoke", "T1:U1")).toBe(1);
    expect(err).toEqual(["The store does not answer: tokens"]);
    expect(calls).toEqual(["closed"]);
  });
});

describe("the command line", () => {
  it.each([[["--version"]], [["-v"]], [["links", "-v"]]])("prints the server's version for %j", async (args) => {
    const { run, out, err } = command();
    expect(await run(...args)).toBe(0);
    expect([out, err]).toEqual([["1.2.3"], []]);
  });

  it.each([[["--help"]], [["-h"]], [["help"]], [["links", "--help"]]])("prints its help for %j", async (args) => {
    const { run, out } = command();
    expect(await run(...args)).toBe(0);
    expect(out[0]).toMatch(/^Usage: node main\.js/);
  });

  it.each([
    [["serve"], "there is no command 'serve'"],
    [["links"], "links takes one of: list, revoke"],
    [["links", "drop", "T1"], "links takes one of: list, revoke"],
    [["links", "revoke"], "links revoke needs a user"],
    [["links", "revoke", ""], "takes one user"],
    [["links", "list", "--all"], "Unknown option"],
  ])("is not understood: %j", async (args, problem) => {
    const { run, err, calls } = command();
    expect(await run(...args)).toBe(2);
    expect(err[0]).toContain(problem);
    expect(calls).toEqual([]);
  });

  it("names no vendor where the server has one", async () => {
    const { run, err, calls } = command();
    expect(await run("links", "revoke", "a", "b")).toBe(2);
    expect(err[0]).toContain("takes one user");
    expect(calls).toEqual(["closed"]);
  });

  it("passes token-store's arguments on unchanged, and its exit code back", async () => {
    const { run, deps } = command();
    expect(await run("token-store", "audit", "--json", "--help")).toBe(3);
    expect(deps.runTokenStore).toHaveBeenCalledWith(["audit", "--json", "--help"]);
  });
});
