import type { Link } from "@oauth-broker/token-store";
import { describe, expect, it } from "vitest";
import type { VendorRevocation } from "../hosted/links/link.ts";
import { runCommand } from "./run-command.ts";

const SIGN_IN = { vendor: "main", issuer: "https://main.example" };
const ELSEWHERE = { vendor: "old", issuer: "https://old.example" };
const vendor = (id: string, name: string) => ({ id, name });
// `tasks` is an alias: its rows have the registry's id.
const SEVERAL = new Map([
  ["main", vendor("main", "Main")],
  ["chat", vendor("chat", "Chat")],
  ["tasks", vendor("tasks-of-registry", "Tasks")],
]);
const LINKS: readonly Link[] = [
  { user: "U1", vendor: "main", status: "active" },
  { user: "U1", vendor: "chat", status: "active", signIn: SIGN_IN },
  { user: "U1", vendor: "tasks-of-registry", status: "reauthorize", signIn: SIGN_IN },
  { user: "U2", vendor: "chat", status: "active", signIn: ELSEWHERE, foreign: true },
  { user: "U3", vendor: "gone", status: "active", signIn: SIGN_IN },
];

function command(
  given: {
    readonly sessions?: number;
    readonly hasIndex?: boolean;
    readonly revoked?: Readonly<Record<string, VendorRevocation>>;
  } = {},
) {
  const { sessions = 0, hasIndex = true, revoked = {} } = given;
  const [out, err, calls]: [string[], string[], string[]] = [[], [], []];
  const note = (call: string): void => void calls.push(call);
  const deps = {
    print: (line: string) => void out.push(line),
    say: (line: string) => void err.push(line),
    runTokenStore: async () => 0,
    openLinks: async () => ({
      vendors: SEVERAL,
      signIn: vendor("main", "Main"),
      list: async function* (user: string | undefined) {
        yield* LINKS.filter((link) => user === undefined || link.user === user);
      },
      endSessions: async () => {
        note("sessions");
        return { ended: sessions, hasIndex };
      },
      endPages: async () => note("pages"),
      endLink: async (_user: string, id = "") => {
        note(`link ${id}`);
        const found = revoked[id];
        return found === undefined ? {} : { vendor: found };
      },
      close: async () => undefined,
    }),
  };
  return { out, err, calls, run: (...args: string[]) => runCommand(args, deps) };
}

describe("links list with several vendors", () => {
  it("says where users sign in, and which rows are of users of another sign-in", async () => {
    const { run, out } = command();
    expect(await run("links", "list")).toBe(0);
    expect(out).toEqual([
      "works                 main  U1  signed in at main",
      "works                 chat  U1  signed in at main, https://main.example",
      "must authorize again  tasks-of-registry  U1  signed in at main, https://main.example",
      "foreign               chat  U2  signed in at old, https://old.example",
      "works                 gone  U3  signed in at main, https://main.example",
      "5 links. Users sign in at Main.",
    ]);
  });
});

describe("links revoke USER with several vendors", () => {
  it("bar#RV-1 ends the sessions, then the pages, then every link, also where none is stored yet", async () => {
    const { run, out, err, calls } = command({ sessions: 2, revoked: { main: "grant", tasks: "unsupported" } });
    expect(await run("links", "revoke", "U1")).toBe(1);
    expect(calls).toEqual(["sessions", "pages", "link main", "link chat", "link tasks"]);
    expect(out).toEqual([
      "2 sessions ended.",
      "The link to Main is removed here.",
      "Main has revoked the grant.",
      "The link to Chat is removed here.",
      "The link to Tasks is removed here.",
      "Tasks has no way to revoke tokens. The user can remove this app in the account settings there.",
    ]);
    expect(err).toEqual([expect.stringContaining("nothing was revoked at Chat")]);
  });

  it("leaves the row of a user who signed in elsewhere, and says so", async () => {
    const { run, out, err } = command();
    expect(await run("links", "revoke", "U2")).toBe(0);
    expect([out, err]).toEqual([
      [
        "The list of sessions of U2 names none that is live.",
        "U2 has no link and no session: links list names those who do.",
      ],
      ["The link to chat is left: it is of a user who signed in at old."],
    ]);
  });

  it("does not claim to have ended a link at a vendor that is not listed any more", async () => {
    const { run, err } = command();
    expect(await run("links", "revoke", "U3")).toBe(1);
    expect(err).toEqual(["The link to gone is left: it is not one of VENDORS."]);
  });

  it("says that a user has nothing, whose pages and flows it has ended all the same", async () => {
    const { run, out, calls } = command({ hasIndex: false });
    expect(await run("links", "revoke", "U9")).toBe(0);
    expect(out).toEqual([
      "There is no list of sessions of U9. A session in no list is not refreshed: it ends within 60 minutes, with its access token.",
      "U9 has no link and no session: links list names those who do.",
    ]);
    expect(calls).toEqual(["sessions", "pages", "link main", "link chat", "link tasks"]);
  });
});

describe("links revoke USER VENDOR", () => {
  it.each([["tasks"], ["tasks-of-registry"]])("bar#RV-1 ends that link alone: %s", async (id) => {
    const { run, out, calls } = command({ sessions: 2, revoked: { tasks: "token" } });
    expect(await run("links", "revoke", "U1", id)).toBe(0);
    expect(calls).toEqual(["link tasks"]);
    expect(out).toEqual(["The link to Tasks is removed here.", "Tasks has revoked the token."]);
  });

  it("fails for a vendor that is not listed", async () => {
    const { run, err, calls } = command();
    expect(await run("links", "revoke", "U3", "gone")).toBe(1);
    expect(err).toEqual(["gone is not one of VENDORS: main, chat, tasks."]);
    expect(calls).toEqual([]);
  });

  it("is done where there is no link", async () => {
    const { run, out, err } = command();
    expect(await run("links", "revoke", "U9", "chat")).toBe(0);
    expect([out, err]).toEqual([["U9 has no link to Chat."], []]);
    expect(await run("links", "revoke", "U2", "chat")).toBe(0);
    expect(err).toEqual(["The link to chat is left: it is of a user who signed in at old."]);
  });

  it.each([
    [["links", "revoke", "U1", "chat", "x"], "takes one user"],
    [["links", "revoke", "U1", ""], "takes one user"],
    [["links", "list", "U1", "chat"], "takes one user"],
  ])("is not understood: %j", async (args, problem) => {
    const { run, err } = command();
    expect(await run(...args)).toBe(2);
    expect(err[0]).toContain(problem);
  });
});
