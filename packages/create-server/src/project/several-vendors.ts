/**
 * The template for a project with several vendors: instead of the sample tool that works with the
 * only vendor there is one tool per vendor. Their texts are in `several-vendors/` of this package.
 */
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { prefixOf } from "@oauth-broker/mcp-auth/config";
import type { Choices, ProjectVendor } from "../choices/choices.ts";

type Files = ReadonlyMap<string, string>;

/**
 * @param template the files of a project by their paths
 * @param texts those of `several-vendors/` by their names
 */
export function forSeveralVendors(template: Files, texts: Files, vendors: Choices["vendors"]): Files {
  const changed = new Map(template);
  const change = (path: string, replacements: readonly (readonly [string, string])[]): void =>
    void changed.set(path, replacements.reduce(replaced, textIn(template, path)));
  const filled = (name: string, words: Words): string => fill(textIn(texts, name), words);
  const [signIn, ...others] = vendors;
  const linked = others.map(wordsOf);
  const all = [wordsOf(signIn), ...linked];
  const names = namesOf(all);
  const exported = all.map((words) => words.exported).join(", ");
  const importsFrom = (folder: string): string =>
    all
      .map((words) => `import { ${words.exported} } from "${folder}/${words.file}.ts";`)
      .toSorted()
      .join("\n");

  changed.delete("src/tools/list-pages.ts");
  change("src/main.ts", [["the account that the user has at the vendor", `the user's accounts at ${names}`]]);
  change("src/tools/whoami.ts", [
    [
      "The account at the vendor that this server acts for.",
      "The account with which the user signed in to this server.",
    ],
  ]);
  for (const words of all) changed.set(`src/tools/${words.file}.ts`, filled("tool.ts.txt", words));
  changed.set("src/tools/index.ts", filled("index.ts.txt", { imports: importsFrom("."), exported }));
  const cases = all.map((words) => filled("case.ts.txt", words).trimEnd()).join("\n\n");
  const tests = { imports: importsFrom("./tools"), signIn: signIn.id, cases };
  changed.set("src/server.test.ts", filled("server-test.ts.txt", tests));
  const use = {
    ...linked[0],
    signIn: nameOf(signIn),
    signInPrefix: prefixOf(signIn.id),
    redirects: linked.map(({ callback }) => callback).join(",\n"),
    rows: all.map(({ row }) => row).join("\n"),
  };
  change("README.md", [
    ["its users' accounts at a vendor.", `its users' accounts at ${names}.`],
    ["with a practice copy of the vendor, on", "with practice copies of the vendors, on"],
    [
      "No account at the vendor is needed for `npm run dev`. To work with the vendor itself, register an\napp there with the redirect URI `http://127.0.0.1:8788/callback` and set `VENDOR_CLIENT_ID` and\n`VENDOR_CLIENT_SECRET`. Data is stored in `./data` (SQLite).\n",
      filled("readme.txt", use),
    ],
    [
      "`list-pages.ts` is a sample: delete it with its tests and its entry in `src/tools/index.ts` when you\nhave your own tools.",
      "The tools named `account_at_…` are samples: delete them with their tests and their entries in\n`src/tools/index.ts` when you have your own tools.",
    ],
  ]);
  return changed;
}

function textIn(files: Files, path: string): string {
  const text = files.get(path);
  if (text === undefined) throw new Error(`The template has no ${path}`);
  return text;
}

/** @throws Error when the template has changed and this file has not */
function replaced(text: string, [from, to]: readonly [string, string]): string {
  if (text.split(from).length !== 2) throw new Error(`The template does not have once: ${from.slice(0, 60)}`);
  return text.replace(from, () => to);
}

type Words = Readonly<Record<string, string | undefined>>;

/** @throws Error when a `{{name}}` in a text is not among the words */
function fill(text: string, words: Words): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const word = words[name];
    if (word === undefined) throw new Error(`The template has a name that is not known: ${name}`);
    return word;
  });
}

/** What the texts say of one vendor. */
function wordsOf({ id, scopes }: ProjectVendor) {
  const name = nameOf({ id });
  const tool = `account_at_${id.replaceAll("-", "_")}`;
  // A valid name even if an id begins with a digit: `my-vendor` → `accountAtMyVendor`.
  const exported = `account-at-${id}`.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const needs = scopes.map((scope) => `\`${scope}\``).join(" ") || "none";
  return {
    id,
    name,
    nameInText: JSON.stringify(name).slice(1, -1),
    file: `account-at-${id}`,
    tool,
    exported,
    prefix: prefixOf(id),
    scopes: scopes.map((scope) => JSON.stringify(scope)).join(", "),
    callback: `\`http://127.0.0.1:8788/vendors/${id}/callback\` for \`${prefixOf(id)}CLIENT_ID\``,
    row: `| \`${tool}\` | ${name} | ${needs} |`,
  };
}

const nameOf = ({ id }: Pick<ProjectVendor, "id">): string => REGISTRY.get(id)?.vendor.name ?? id;

/** `GitHub, Slack and Notion` */
function namesOf(vendors: readonly { readonly name: string }[]): string {
  const names = vendors.map(({ name }) => name);
  return [names.slice(0, -1).join(", "), names.at(-1)].join(" and ");
}
