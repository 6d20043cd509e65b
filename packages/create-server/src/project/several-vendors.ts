/**
 * The template for a project with several vendors: instead of the sample tool that works with the
 * only vendor there is one tool per vendor.
 */
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { prefixOf } from "@oauth-broker/mcp-auth/config";
import type { Choices, ProjectVendor } from "../choices/choices.ts";

type Files = ReadonlyMap<string, string>;

/** @param template the files of a project by their paths */
export function forSeveralVendors(template: Files, vendors: Choices["vendors"]): Files {
  const [signIn] = vendors;
  const changed = new Map(template);
  const change = (path: string, replacements: readonly (readonly [string, string])[]): void => {
    const text = template.get(path);
    if (text === undefined) throw new Error(`The template has no ${path}`);
    changed.set(path, replacements.reduce(replaced, text));
  };
  changed.delete("src/tools/list-pages.ts");
  change("src/main.ts", [
    ["the account that the user has at the vendor", `the user's accounts at ${namesOf(vendors)}`],
  ]);
  change("src/tools/whoami.ts", [
    [
      "The account at the vendor that this server acts for. Use it to see which user the other tools work for",
      "The account with which the user signed in to this server. Use it to see which user the other tools work for",
    ],
  ]);
  for (const vendor of vendors) changed.set(`src/tools/${fileOf(vendor)}.ts`, toolOf(vendor));
  changed.set("src/tools/index.ts", listOf(vendors));
  changed.set("src/server.test.ts", testsOf(vendors));
  change("README.md", readmeOf(vendors, signIn));
  return changed;
}

/** @throws Error when the template has changed and this file has not */
function replaced(text: string, [from, to]: readonly [string, string]): string {
  if (text.split(from).length !== 2) throw new Error(`The template does not have once: ${from.slice(0, 60)}`);
  return text.replace(from, () => to);
}

const nameOf = ({ id }: ProjectVendor): string => REGISTRY.get(id)?.vendor.name ?? id;

/** `GitHub, Slack and Notion` */
function namesOf(vendors: readonly ProjectVendor[]): string {
  const names = vendors.map(nameOf);
  return [names.slice(0, -1).join(", "), names.at(-1)].join(" and ");
}

const fileOf = ({ id }: ProjectVendor): string => `account-at-${id}`;
const toolNameOf = ({ id }: ProjectVendor): string => `account_at_${id.replaceAll("-", "_")}`;

/** `my-vendor` → `accountAtMyVendor`: a valid name even if an id begins with a digit. */
function exportOf({ id }: ProjectVendor): string {
  const words = id.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `accountAt${words.join("")}`;
}

function toolOf(vendor: ProjectVendor): string {
  const { id, scopes } = vendor;
  const name = nameOf(vendor);
  return `/** The user's account at ${name}: a sample of a tool that works with one of the vendors. */
import { defineTool, z } from "@oauth-broker/mcp-auth";

export const ${exportOf(vendor)} = defineTool({
  name: "${toolNameOf(vendor)}",
  title: ${JSON.stringify(`Account at ${name}`)},
  description: ${JSON.stringify(`The user's account at ${name}. The user is asked to link one first if necessary`)},
  input: z.object({}),
  // Before run, the user has linked this vendor with these scopes, all in ${prefixOf(id)}SCOPES.
  vendor: "${id}",
  scopes: ${listed(scopes)},
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: (_, { vendor }) => vendor.account(),
});
`;
}

const listed = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(", ")}]`;

function listOf(vendors: readonly ProjectVendor[]): string {
  const imports = vendors.map((vendor) => `import { ${exportOf(vendor)} } from "./${fileOf(vendor)}.ts";`).toSorted();
  return `/** The tools of the server. A new tool is a file here, an import and a place in the list. */
${imports.join("\n")}
import { whoami } from "./whoami.ts";

export const tools = [whoami, ${vendors.map(exportOf).join(", ")}];
`;
}

function testsOf(vendors: Choices["vendors"]): string {
  const [signIn] = vendors;
  const imports = vendors
    .map((vendor) => `import { ${exportOf(vendor)} } from "./tools/${fileOf(vendor)}.ts";`)
    .toSorted();
  const cases = vendors.map(
    (vendor) => `  it("${toolNameOf(vendor)} is the account at ${vendor.id}", async () => {
    expect(await ${exportOf(vendor)}.run({}, contextWith("${vendor.id}"))).toEqual({ at: "${vendor.id}" });
  });`,
  );
  return `/** The tools, called as the server calls them, with vendors whose answers the test sets. */
import { type CallContext, type NamedVendors, SIGN_IN_VENDOR, type VendorApi } from "@oauth-broker/mcp-auth";
import { describe, expect, it } from "vitest";
import { tools } from "./tools/index.ts";
${imports.join("\n")}
import { whoami } from "./tools/whoami.ts";

/** @param id as the tool names its vendor */
function contextWith<Id extends string>(id: Id, at: string = id): CallContext & NamedVendors<Id> {
  const vendor: VendorApi = {
    id: at,
    name: at,
    account: async () => ({ at }),
    accessToken: async () => \`token of \${at}\`,
    fetch: async () => new Response(null, { status: 404 }),
  };
  return {
    user: "1",
    signal: new AbortController().signal,
    progress: async () => undefined,
    vendor,
    vendors: { [id]: vendor } as NamedVendors<Id>["vendors"],
  };
}

describe("the server", () => {
  it("has tools of different names", () => {
    const names = tools.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("the tools", () => {
  it("whoami is the account of the vendor that signs users in", async () => {
    expect(await whoami.run({}, contextWith(SIGN_IN_VENDOR, "${signIn.id}"))).toEqual({ at: "${signIn.id}" });
  });

${cases.join("\n\n")}
});
`;
}

function readmeOf(vendors: Choices["vendors"], signIn: ProjectVendor): readonly (readonly [string, string])[] {
  const linked = vendors.filter((vendor) => vendor !== signIn);
  const [asked = signIn] = linked;
  const rows = vendors.map(
    (vendor) =>
      `| \`${toolNameOf(vendor)}\` | ${nameOf(vendor)} | ${vendor.scopes.map((scope) => `\`${scope}\``).join(" ") || "none"} |`,
  );
  const redirects = linked.map(
    ({ id }) => `\`http://127.0.0.1:8788/vendors/${id}/callback\` for \`${prefixOf(id)}CLIENT_ID\``,
  );
  return [
    [
      "An MCP server that works with its users' accounts at a vendor.",
      `An MCP server that works with its users' accounts at ${namesOf(vendors)}.`,
    ],
    ["with a practice copy of the vendor, on", "with practice copies of the vendors, on"],
    [
      "No account at the vendor is needed for `npm run dev`. To work with the vendor itself, register an\napp there with the redirect URI `http://127.0.0.1:8788/callback` and set `VENDOR_CLIENT_ID` and\n`VENDOR_CLIENT_SECRET`. Data is stored in `./data` (SQLite).\n",
      `No account at a vendor is needed for \`npm run dev\`. To work with a vendor itself, register an app
there, and set its id and secret. The redirect URIs are \`http://127.0.0.1:8788/callback\` for
\`${prefixOf(signIn.id)}CLIENT_ID\`, which signs users in, and
${redirects.join(",\n")}. Data is stored in \`./data\` (SQLite).

## Call a tool, click the link, call again

1. \`npm run dev\`, and give \`http://127.0.0.1:8788/mcp\` to an MCP client. It asks you to sign in, with
   ${nameOf(signIn)}, which links ${nameOf(signIn)} too.
2. Call \`${toolNameOf(asked)}\`. There is no account at ${nameOf(asked)} yet: the client shows a link.
3. Click it. The page says who asks for what; approve, and consent at ${nameOf(asked)}.
4. Call the tool again: it answers. It stays linked, for every client with which you sign in.

| tool | vendor | scopes |
| --- | --- | --- |
| \`whoami\` | the one that signs users in | none |
${rows.join("\n")}

\`http://127.0.0.1:8788/connections\` shows the accounts that are linked, and ends a link.
`,
    ],
    [
      "`list-pages.ts` is a sample: delete it with its tests and its entry in `src/tools/index.ts` when you\nhave your own tools.",
      "The tools named `account_at_…` are samples: delete them with their tests and their entries in\n`src/tools/index.ts` when you have your own tools.",
    ],
  ];
}
