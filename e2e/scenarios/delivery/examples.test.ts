/**
 * The programs of examples/, each as its README starts it, against one broker in its sandbox: the
 * practice copy of GitHub is connected, called, refreshed and disconnected, and what must not be
 * possible is tried.
 */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { createCookieJar, type CookieJar, driveConsent, sendWithCookies } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InProcessSandbox, startInProcessSandbox } from "../../support/broker/sandbox.ts";
import {
  endOfExample,
  exampleFolder,
  type ExampleProcess,
  linesOfCode,
  startExample,
} from "../../support/packages/example-process.ts";
import { BUILD_MS, buildNextApp } from "../../support/packages/next-app.ts";
import { freePort } from "../../support/free-port.ts";
import { findSecrets, plantSecret } from "../../support/secrets.ts";
import { temporaryFolder } from "../../support/service-process.ts";

const ON_NEXT = "platform-in-next";
/**
 * Whether a flow under way outlives a restart: the session is in the cookie, or in memory. Those
 * in Python are opt-in: `npm run test:python`; the soak has the others, and builds the one on Next.js.
 */
const EXAMPLES: readonly [name: string, outlivesRestart: boolean][] = [
  ["express", false],
  ...volume<[string, boolean][]>({
    test: [],
    soak: [
      ["fastify", false],
      ["hono", true],
      [ON_NEXT, false],
    ],
  }),
  ...(process.env["PYTHON_WITH_AUTHLIB"] === undefined
    ? []
    : [["python-authlib", false] as [string, boolean], ["python-fastapi", false] as [string, boolean]]),
];
const SESSION_SECRET = "the-secret-of-the-sessions-of-a-test";

let broker: InProcessSandbox;
/** Stands between the examples and the practice copy's API, and sees the tokens. */
let github: { readonly url: string; readonly seen: string[]; readonly server: Server };
let settings: Readonly<Record<string, string>>;
const ports = new Map<string, number>();
/** Where each runs; the one on Next.js is a built copy. */
const folders = new Map<string, string>();
const examples = new Map<string, ExampleProcess>();
/** What browsers were sent, except for the vendor's and the broker's own pages. */
const shown: string[] = [];

beforeAll(async () => {
  plantSecret("session secret", SESSION_SECRET);
  for (const name of [...EXAMPLES.map(([name]) => name), "shared"]) ports.set(name, await freePort());
  const redirectUris = [...ports.values()].map((port) => `http://127.0.0.1:${port}/oauth/callback`);
  const client = { id: "examples", secret: "a-secret-that-is-long-enough-for-the-sandbox", redirectUris };
  broker = await startInProcessSandbox({ client });
  settings = broker.settings;
  github = await startRecorder(settings["GITHUB_API_URL"] ?? "");
  for (const [name] of EXAMPLES)
    folders.set(name, name === ON_NEXT ? await buildNextApp(name, ["broker-client"]) : exampleFolder(name));
  await Promise.all(EXAMPLES.map(async ([name]) => examples.set(name, await start(name))));
}, BUILD_MS);

afterAll(async () => {
  await Promise.all([...examples.values()].map((example) => example.stop()));
  github.server.close();
});

async function start(name: string, folder = folders.get(name) ?? ""): Promise<ExampleProcess> {
  const env = { ...settings, GITHUB_API_URL: github.url, PORT: String(ports.get(name)), SESSION_SECRET };
  return startExample({ folder, env });
}

async function startRecorder(target: string): Promise<typeof github> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { authorization = "" } = request.headers;
    const token = authorization.replace("Bearer ", "");
    plantSecret("access token", token);
    seen.push(token);
    void fetch(`${target}${request.url}`, { headers: { authorization } }).then(async (answer) =>
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text()),
    );
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}`, seen, server };
}

const isLive = async (token: string): Promise<boolean> =>
  (await fetch(`${settings["GITHUB_API_URL"]}/user`, { headers: { authorization: `Bearer ${token}` } })).ok;

/** A user with a browser. */
interface Actor {
  readonly jar: CookieJar;
  get(path: string): Promise<Answer>;
  /** @param fields default: GitHub, for those that have several vendors */
  press(path: string, fields?: Readonly<Record<string, string>>, origin?: string): Promise<Answer>;
  signIn(user: string): Promise<void>;
  /** Presses Connect. @returns where the browser goes */
  leave(vendor?: string): Promise<string>;
  /** Goes there, and decides. @returns the callback, which is not requested yet */
  decide(start: string, decision?: "approve" | "cancel"): Promise<string>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string;
}

function createActor({ url }: ExampleProcess, jar: CookieJar = createCookieJar()): Actor {
  const send = async (path: string, init?: RequestInit): Promise<Answer> => {
    const answer = await sendWithCookies(fetch, jar, new URL(path, url), init);
    const [text, location] = [await answer.text(), answer.headers.get("location") ?? ""];
    shown.push(text, location);
    return { status: answer.status, text, location };
  };
  const actor: Actor = {
    jar,
    get: (path) => send(path),
    press: (path, fields = { vendor: "github" }, origin = url) =>
      send(path, { method: "POST", headers: { origin }, body: new URLSearchParams(fields) }),
    signIn: async (user) => {
      expect(await actor.press("/sign-in", { user })).toMatchObject({ status: 303, location: "/" });
    },
    leave: async (vendor = "github") => {
      const answer = await actor.press("/connect", { vendor });
      expect(answer).toMatchObject({ status: 303, location: expect.stringContaining(`${broker.url}/v1/authorize?`) });
      return answer.location;
    },
    decide: async (start, decision = "approve") => {
      const callback = await driveConsent(start, {
        cookieJar: jar,
        decision,
        stopAt: (at) => at.href.startsWith(`${url}/oauth/callback`),
      });
      plantSecret("broker's code", callback.searchParams.get("code"));
      return callback.href;
    },
  };
  return actor;
}

async function signedIn(example: ExampleProcess, user: string): Promise<Actor> {
  const actor = createActor(example);
  await actor.signIn(user);
  return actor;
}

const CONNECTED = "Connected to GitHub as sample-user.";
const DONE = { status: 303, location: "/" };
const REFUSED = { status: 400, text: expect.stringContaining("You did not begin this connection here") };

describe.each(EXAMPLES)("examples/%s", (name, outlivesRestart) => {
  const example = (): ExampleProcess => examples.get(name)!;

  it("connects, calls the vendor, refreshes and disconnects", async () => {
    const user = await signedIn(example(), "user 1");
    expect((await user.get("/")).text).toContain('action="/connect"');
    expect(await user.get(await user.decide(await user.leave()))).toMatchObject(DONE);
    expect((await user.get("/")).text).toMatch(/Connected to GitHub[^]* action="\/refresh"[^]* action="\/disconnect"/);
    const first = github.seen.at(-1) ?? "";
    expect(await user.press("/refresh")).toMatchObject(DONE);
    expect((await user.get("/")).text).toContain(CONNECTED);
    const second = github.seen.at(-1) ?? "";
    expect([await isLive(first), await isLive(second)]).toEqual([false, true]);
    expect((await user.press("/disconnect")).text).toContain("Disconnected.");
    expect(await isLive(second)).toBe(false);
    expect((await user.get("/")).text).toContain('action="/connect"');
    for (const path of ["/refresh", "/disconnect"]) expect(await user.press(path)).toMatchObject(DONE);
  });

  it("says that the user cancelled", async () => {
    const user = await signedIn(example(), "user 2");
    const answer = await user.get(await user.decide(await user.leave(), "cancel"));
    expect(answer).toMatchObject({
      status: 403,
      text: expect.stringMatching(/You cancelled( at GitHub)?, so nothing was connected/),
    });
    expect((await user.get("/")).text).toContain('action="/connect"');
  });

  it("bar#XA-7 refuses a callback in another user's session, and the first user still finishes", async () => {
    const [attacker, victim] = [await signedIn(example(), "attacker 3"), await signedIn(example(), "victim 3")];
    await victim.leave();
    const callback = await attacker.decide(await attacker.leave());
    expect(await victim.get(callback)).toMatchObject(REFUSED);
    const unknown = createActor(example());
    await unknown.get(callback);
    expect((await unknown.get("/")).text).toContain('action="/sign-in"');
    expect((await victim.get("/")).text).toContain('action="/connect"');
    expect(await attacker.get(callback)).toMatchObject(DONE);
  });

  it("finishes two tabs in any order, each once", async () => {
    const user = await signedIn(example(), "user 4");
    const [one, two] = [await user.leave(), await user.leave()];
    const [first, second] = [await user.decide(one), await user.decide(two)];
    expect(await user.get(second)).toMatchObject(DONE);
    expect(await user.get(first)).toMatchObject(DONE);
    for (const callback of [first, second]) expect(await user.get(callback)).toMatchObject(REFUSED);
    expect((await user.get("/")).text).toContain(CONNECTED);
  });

  it("begins a new session at sign-in: one that was planted gets nothing", async () => {
    const attacker = await signedIn(example(), "attacker 5");
    const callback = await attacker.decide(await attacker.leave());
    const victim = createActor(example(), attacker.jar.copy());
    const before = attacker.jar.header(new URL(example().url));
    await victim.signIn("victim 5");
    expect(victim.jar.header(new URL(example().url))).not.toBe(before);
    expect(await victim.get(callback)).toMatchObject(REFUSED);
    expect((await victim.get("/")).text).toContain("Signed in as victim 5.");
    expect((await attacker.get("/")).text).not.toContain("victim 5");
  });

  it("keeps its cookie from scripts and from other sites' requests", async () => {
    const answer = await fetch(`${example().url}/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: example().url },
      body: new URLSearchParams({ user: "user 6" }),
    });
    const [cookie, ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/i);
  });

  it("refuses forms of other origins", async () => {
    const user = await signedIn(example(), "user 7");
    for (const path of ["/sign-in", "/connect", "/refresh", "/disconnect"]) {
      expect(await user.press(path, { user: "attacker 7" }, "http://127.0.0.1:9")).toMatchObject({ status: 403 });
      expect(await user.press(path, { user: "attacker 7" }, "null")).toMatchObject({ status: 403 });
    }
    expect((await user.get("/")).text).toContain("Signed in as user 7.");
  });

  it("escapes what users type", async () => {
    const actor = await signedIn(example(), '<b>&"x');
    expect((await actor.get("/")).text).not.toContain("<b>");
  });

  it("refuses a late callback, and one after a restart unless the session outlives it", async () => {
    const user = await signedIn(example(), "user 9");
    const late = await user.decide(await user.leave());
    await example().skipTime();
    expect(await user.get(late)).toMatchObject(REFUSED);

    const callback = await user.decide(await user.leave());
    await example().stop();
    shown.push(example().output());
    examples.set(name, await start(name));
    const answer = await user.get(callback);
    if (outlivesRestart) expect(answer).toMatchObject(DONE);
    else {
      expect((await user.get("/")).text).toContain('action="/sign-in"');
      await user.signIn("user 9");
      expect(await user.get(await user.decide(await user.leave()))).toMatchObject(DONE);
    }
    expect((await user.get("/")).text).toContain(CONNECTED);
  });

  it("says all at once what is missing", async () => {
    const { code, output } = await endOfExample({
      folder: folders.get(name)!,
      env: { BROKER_URL: "", BROKER_CLIENT_ID: "", BROKER_CLIENT_SECRET: "" },
    });
    expect(code).toBe(1);
    expect(output).toContain("Set BROKER_URL, BROKER_CLIENT_ID, BROKER_CLIENT_SECRET");
  });

  it("does not say that it listens where another program does", async () => {
    const env = { ...settings, PORT: new URL(example().url).port };
    const { code, output } = await endOfExample({ folder: folders.get(name)!, env });
    expect(code).toBe(1);
    expect(output).toMatch(/in use/i);
    expect(output).not.toContain("Open http");
  });

  it("has less than 120 lines of code", () => {
    expect(linesOfCode(name)).toBeLessThan(120);
  });
});

/** A second vendor, which keeps what the first has. */
it.each(EXAMPLES.filter(([name]) => name === ON_NEXT))("examples/%s connects Slack beside GitHub", async (name) => {
  const user = await signedIn(examples.get(name)!, "user 15");
  for (const vendor of ["slack", "github"])
    expect(await user.get(await user.decide(await user.leave(vendor)))).toMatchObject(DONE);
  const { text } = await user.get("/");
  expect(text).toContain("Connected to Slack as Sample user.");
  expect(text).toContain(CONNECTED);
  expect((await user.press("/disconnect", { vendor: "slack" })).text).toContain("Disconnected.");
  expect((await user.get("/")).text).toContain(CONNECTED);
});

/** The example with one table of verifiers for all users: what its session prevents. */
it("with verifiers that all users share, a victim gets the attacker's account", async () => {
  const folder = temporaryFolder();
  const text = readFileSync(join(exampleFolder("express"), "main.ts"), "utf8");
  const shared = text
    .replace("= req.session;\n  const flow ", "= { ...req.session, ...table };\n  const flow ")
    .replace("[...(req.session.flows ?? [])", "table.flows = [...(table.flows ?? [])")
    .replace("const app =", "const table: { flows?: Flow[] } = {};\nconst app =");
  writeFileSync(join(folder, "main.ts"), shared);
  for (const file of ["package.json", "node_modules"])
    symlinkSync(join(exampleFolder("express"), file), join(folder, file));
  const example = await start("shared", folder);
  const [attacker, victim] = [await signedIn(example, "attacker 13"), await signedIn(example, "victim 13")];
  expect(await victim.get(await attacker.decide(await attacker.leave()))).toMatchObject(DONE);
  expect((await victim.get("/")).text).toContain(CONNECTED);
  await example.stop();
});

it("says that the broker is down, and asks to try again", async () => {
  const actors = await Promise.all([...examples.values()].map((example) => signedIn(example, "user 14")));
  for (const actor of actors) await actor.leave();
  await broker.stop();
  for (const actor of actors) {
    const answer = await actor.press("/connect");
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining("Try again in a minute") });
  }
});

it("showed and logged no secret", () => {
  const all = [...shown, ...[...examples.values()].map((example) => example.output())].join("\n");
  expect(findSecrets(all)).toEqual([]);
  // Tokens of the practice copies, and a flow as the client returns it.
  expect(all).not.toMatch(/ghr_\w|xox[a-z]|codeVerifier|code_verifier/);
});
