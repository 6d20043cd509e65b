/**
 * Format on save equals `npm run check`: what the editor's extension asks of `oxfmt --lsp` is what
 * `oxfmt` writes. The settings send every kind of file there that the check looks at.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TextDocument, type TextEdit } from "vscode-languageserver-textdocument";
import { parse } from "yaml";
import { ROOT } from "../sources.ts";

const OXFMT = join(ROOT, "node_modules/.bin/oxfmt");
const FILES: readonly (readonly [language: string, path: string, text: string])[] = [
  [
    "typescript",
    "tooling/src/new.ts",
    `import {a} from './a.ts'\nexport const b = ( x:number )=>{ return {a, 'c':x} }`,
  ],
  ["javascript", "scripts/new.mjs", "for (const a of [1,2]) console.log( a )"],
  ["json", "packages/oauth-core/package.json", '{"name":"a",\n"exports":{".":"./src/index.ts"}}'],
  ["yaml", ".github/workflows/new.yml", "on:   push\njobs: {a:   {runs-on: ubuntu-latest}}\n"],
  ["markdown", "docs/new.md", "*  a\n*  b\n"],
];

let server: ChildProcess;
let received = Buffer.alloc(0);
const answers = new Map<number, (result: unknown) => void>();

function send(message: object): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin?.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

const ask = async (id: number, method: string, params: object): Promise<unknown> => {
  const answer = new Promise((resolve) => answers.set(id, resolve));
  send({ id, method, params });
  return answer;
};

function receive(bytes: Buffer): void {
  received = Buffer.concat([received, bytes]);
  for (;;) {
    const header = /^Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/.exec(received.toString("latin1"));
    if (header === null) return;
    const end = header[0].length + Number(header[1]);
    if (received.length < end) return;
    const message = JSON.parse(received.subarray(header[0].length, end).toString()) as Readonly<
      Record<string, unknown>
    >;
    received = received.subarray(end);
    const { id, method, result } = message;
    // What the server asks the editor for: it has no settings of its own.
    if (method !== undefined && id !== undefined)
      send({ id, result: method === "workspace/configuration" ? [null] : null });
    else if (typeof id === "number") answers.get(id)?.(result);
  }
}

beforeAll(async () => {
  server = spawn(OXFMT, ["--lsp"], { cwd: ROOT });
  server.stdout?.on("data", receive);
  const uri = pathToFileURL(ROOT).href;
  await ask(0, "initialize", {
    processId: null,
    rootUri: uri,
    capabilities: {},
    workspaceFolders: [{ uri, name: "root" }],
  });
  send({ method: "initialized", params: {} });
});
afterAll(() => void server.kill());

it.each(FILES)("a %s file is saved as the check wants it", async (languageId, path, text) => {
  const uri = pathToFileURL(join(ROOT, path)).href;
  const document = TextDocument.create(uri, languageId, 1, text);
  send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId, version: 1, text } } });
  const options = { textDocument: { uri }, options: { tabSize: 4, insertSpaces: false } };
  const edits = (await ask(FILES.findIndex(([, one]) => one === path) + 1, "textDocument/formatting", options)) as
    | TextEdit[]
    | null;
  const written = spawnSync(OXFMT, ["--stdin-filepath", path], { cwd: ROOT, input: text, encoding: "utf8" });
  expect(TextDocument.applyEdits(document, edits ?? [])).toBe(languageId === "markdown" ? text : written.stdout);
  expect(written.stdout === text).toBe(languageId === "markdown");

  const settings = parse(
    readFileSync(join(ROOT, ".vscode/settings.json"), "utf8").replace(/^\s*\/\/.*$/gm, ""),
  ) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const ofLanguage = settings[`[${languageId}]`];
  if (languageId === "markdown") expect(ofLanguage).toMatchObject({ "editor.formatOnSave": false });
  else expect(ofLanguage).toMatchObject({ "editor.defaultFormatter": "oxc.oxc-vscode" });
  expect(settings["editor.formatOnSave"]).toBe(true);
});
