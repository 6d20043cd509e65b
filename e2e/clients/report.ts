/** `docs/clients.md`: what was run, in a table, and below it what a client cannot do, in its own words. */
import { STEPS } from "./list.ts";
import type { Outcome, Row } from "./run.ts";

const MARKS: Readonly<Record<Outcome["result"], string>> = { yes: "yes", failed: "**no**", no: "–" };

const INTRODUCTION = `# Clients

\`npm run clients\` runs each of these clients, unmodified and in an exact version, against a server from
the template, in a network namespace that has loopback and no route. The vendor behind the server is
GitHub's simulator. A client gets the server's address and a browser; it finds the authorization server,
registers, signs its user in and calls \`whoami\` by itself.

- **login**: from an empty folder to the answer of a tool, through the browser once.
- **restart**: a new process of the same client calls with what it kept, without the browser.
- **refresh**: its access token ends while it runs, and the next call works without the browser.
- **an hour later**: the token ends while the client is not running. The clocks of the server and of
  clients on Node.js, Go and Python are moved. That of a native client stays: it believes the token, and has
  to act on the 401.
- **revoked**: the user disconnects the server at the vendor. The client asks its user again, or stops with
  an error, within a few requests.
`;

const LEFT_OUT = `Not run: Claude Code and opencode (their packages finish with an install script, which is not run here),
Crush (downloads its program at the first start), and Gemini CLI, Qwen Code and Copilot CLI (their
\`mcp\` commands have no sign-in outside a session with a model).
`;

/** @param rows in the order of the table */
export function report(rows: readonly Row[], date: string): string {
  const head = ["client", "version", "language", ...STEPS];
  const notes: string[] = [];
  const lines = rows.map((row) => {
    const cells = STEPS.map((step) => {
      const { result, note } = row.outcomes[step];
      if (note === undefined || (result === "yes" && step !== "revoked")) return MARKS[result];
      return `${MARKS[result]} ${reference(notes, note)}`;
    });
    return [row.title, row.version, row.language, ...cells];
  });
  const table = [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const list = notes.map((note, index) => `${index + 1}. ${note}`).join("\n");
  const all = rows.filter(({ outcomes }) => STEPS.every((step) => outcomes[step].result === "yes")).length;
  return `<!-- Generated on ${date}. Remake: npm run clients, then npm run docs -->

${INTRODUCTION}
${rows.length} clients, of which ${all} do all five.

${table}
${list === "" ? "" : `\n${list}\n`}
${LEFT_OUT}`;
}

/** One number for equal notes. */
function reference(notes: string[], note: string): string {
  const text = oneLine(note);
  if (!notes.includes(text)) notes.push(text);
  return `(${notes.indexOf(text) + 1})`;
}

const MOST_CHARACTERS = 160;

/** As text of a page: neither markup nor what differs from run to run. */
function oneLine(note: string): string {
  const text = note
    .replace(/For more information.*/s, "")
    .replace(/https?:\/\/127\.0\.0\.1:\d+[^\s']*/g, "URL")
    .replace(/[\s|<>`*_[\]]+/g, " ")
    .trim();
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
