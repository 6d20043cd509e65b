/**
 * The vendors that tools name, against those of the deployment: a tool that can never run is
 * refused at start. Called by config.ts if the environment is wrong too, by app.ts, and by
 * endpoint.ts for the names of each tool.
 */
import { specTypeSchemas } from "@modelcontextprotocol/server";
import { defined } from "@oauth-broker/oauth-core";
import { isScopeToken } from "@oauth-broker/oauth-core/protocol";
import { configError, type Problem } from "@oauth-broker/service/configuration";
import { prefixOf } from "../../config/reader.ts";
import type { ScopeMeaning, ScopeMeanings } from "../../presentation/presentation.ts";
import type { Settings } from "../../settings.ts";
import { scopesOfResource } from "../../resource/scopes.ts";
import { SIGN_IN_VENDOR, type Tool } from "../../tool.ts";

/** A vendor as one tool names it. */
export interface NamedVendor {
  /** In the tool: the id, or SIGN_IN_VENDOR. */
  readonly name: string;
  /** In the deployment. */
  readonly id: string;
  /** The vendor's own scope tokens; undefined: the tool names none, and may use all. */
  readonly scopes: readonly string[] | undefined;
}

/** @param signIn the id of the vendor that signs users in */
export function vendorsOf(tool: Pick<Tool, "vendors" | "vendor" | "scopes">, signIn: string): readonly NamedVendor[] {
  const named =
    tool.vendor === undefined
      ? Object.entries(tool.vendors ?? {}).map(([name, { scopes }]) => ({ name, scopes }))
      : [{ name: tool.vendor, scopes: tool.scopes }];
  return named.map(({ name, scopes }) => ({
    name,
    // `offline_access` is asked of every vendor that has it, even if no tool names it.
    scopes: scopes && scopesOfResource(scopes),
    id: name === SIGN_IN_VENDOR ? signIn : name,
  }));
}

/**
 * @returns by the id of each vendor what its scopes mean, as the first tool says that has a sentence
 *   for one, else as the vendor's entry says
 */
export function scopeMeanings(tools: readonly Tool[], settings: Settings): ScopeMeanings {
  const { signIn } = knownVendors(settings);
  const meanings = new Map<string, Map<string, ScopeMeaning>>();
  for (const { vendor = signIn, vendors = {}, scopeMeanings: own = {} } of tools) {
    const said = [
      [vendor, own] as const,
      ...Object.entries(vendors).map(([id, needs]) => [id, needs.scopeMeanings ?? {}] as const),
    ];
    for (const [named, sentences] of said) {
      const id = named === SIGN_IN_VENDOR ? signIn : named;
      meanings.set(id, new Map([...meaningsIn(sentences), ...(meanings.get(id) ?? [])]));
    }
  }
  const { id: only } = settings.vendor.vendor;
  const vendors = settings.mode === "hosted" ? settings.links.vendors : new Map([[only, settings.vendor]]);
  for (const [id, { vendor }] of vendors)
    meanings.set(id, new Map([...meaningsIn(vendor.scopeMeanings, "en"), ...(meanings.get(id) ?? [])]));
  return meanings;
}

function meaningsIn(
  sentences: Readonly<Record<string, string>> = {},
  language?: string,
): [scope: string, meaning: ScopeMeaning][] {
  return Object.entries(sentences).map(([scope, sentence]) => [scope, defined({ sentence, language })]);
}

/** The vendors of a deployment, as far as its environment says which they are. */
export interface KnownVendors {
  /** The id of the vendor that signs users in, or of the only one. */
  readonly signIn: string;
  /** With `VENDORS`: those of each listed vendor; undefined if they cannot be read. */
  readonly scopes: ReadonlyMap<string, readonly string[] | undefined> | undefined;
}

/**
 * @throws ConfigError listing every problem: a vendor that this deployment does not have, or has
 *   without a scope that the tool needs
 */
export function requireKnownVendors(tools: readonly Tool[], settings: Settings): void {
  const problems = toolProblems(tools, knownVendors(settings));
  if (problems.length === 0) return;
  throw configError(problems, {
    service: "The server",
    source: "its tools",
    next: "Correct the tools or the environment and start it again.",
  });
}

function knownVendors(settings: Settings): KnownVendors {
  if (settings.mode !== "hosted" || settings.links.kind === "one")
    return { signIn: settings.vendor.vendor.id, scopes: undefined };
  const { signIn, vendors } = settings.links;
  return { signIn, scopes: new Map([...vendors].map(([id, { scopes }]) => [id, scopes])) };
}

/** As MCP says that names should be; the SDK takes any. */
const NAME = /^[\w.-]{1,128}$/;

/**
 * Names that clients may refuse. With plain `VENDOR` in hosted mode also the tools for which
 * no client can ask: the vendor may grant more than it was asked for, so the tools are not refused.
 */
export function toolWarnings(tools: readonly Tool[], settings: Settings): readonly string[] {
  const unfit = tools.filter(({ name }) => !NAME.test(name));
  return [
    ...unfit.map(
      ({ name }) => `tool ${name} has a name which clients may refuse: at most 128 letters, digits, _, - and .`,
    ),
    ...scopeWarnings(tools, settings),
  ];
}

function scopeWarnings(tools: readonly Tool[], settings: Settings): readonly string[] {
  if (settings.mode !== "hosted" || settings.links.kind === "several") return [];
  const { vendor, scopes: asked } = settings.vendor;
  return tools.flatMap((tool) => {
    const needed = [...(tool.scopes ?? []), ...vendorsOf(tool, vendor.id).flatMap(({ scopes = [] }) => scopes)];
    const missing = [...new Set(needed)].filter((scope) => !asked.includes(scope));
    return missing.map((scope) => `tool ${tool.name} ${lacks(undefined, scope)}: no client can ask for it`);
  });
}

/** The same problems, for a list that has others too. */
export function toolProblems(tools: readonly Tool[], known: KnownVendors): readonly Problem[] {
  if (!Array.isArray(tools)) return [{ path: "tools", problem: "must be a list: [myTool, …]" }];
  return tools.flatMap((tool: Tool | undefined, at) => {
    if (!(tool instanceof Object)) return [{ path: `tools[${at}]`, problem: "is no tool" }];
    return problemsOf(tool, known).map((problem) => ({ path: `tool ${tool.name}`, problem }));
  });
}

/** What a compiler says of a tool: neither `npm run dev` nor the build asks one. */
function mistypedIn({ input, outputSchema, run, scopes, vendors, ...shown }: Tool): string[] {
  // One tool that a client cannot read would take the whole list from it.
  const listed = specTypeSchemas.Tool["~standard"].validate({ ...defined(shown), inputSchema: { type: "object" } });
  const lists: readonly unknown[] = [scopes, ...Object.values(vendors ?? {}).map((needs) => needs.scopes)];
  return [
    ...(isZodObject(input) ? [] : ["needs an `input`: z.object({ … }), with `z` of @oauth-broker/mcp-auth"]),
    ...(outputSchema === undefined || isZodObject(outputSchema) ? [] : ["has an `outputSchema` that is no z.object"]),
    ...(listed.issues ?? []).map(
      ({ path = [], message }) => `has a wrong \`${path.map(String).join(".")}\`: ${message}`,
    ),
    ...(typeof run === "function" ? [] : ["needs `run`: a function"]),
    ...(lists.every((list) => list === undefined || Array.isArray(list)) ? [] : ["has `scopes` that are no list"]),
  ];
}

/** A JSON Schema has a `type` too. */
function isZodObject(schema: Partial<Tool["input"]> | undefined): boolean {
  return schema?.type === "object" && schema["~standard"]?.jsonSchema !== undefined;
}

function problemsOf(tool: Tool, known: KnownVendors): string[] {
  const mistyped = mistypedIn(tool);
  if (mistyped.length > 0) return mistyped;
  if (tool.vendors !== undefined && (tool.vendor !== undefined || tool.scopes !== undefined))
    return ["has `vendors`, so it cannot have `vendor` or `scopes` beside it"];
  const { signIn } = known;
  const named = vendorsOf(tool, signIn);
  const ids = named.map(({ id }) => id);
  const doubled = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
  const malformed = [tool.scopes, ...named.map(({ scopes }) => scopes)]
    .flatMap((scopes) => scopes ?? [])
    .filter((scope) => !isScopeToken(scope));
  const problems = [
    ...doubled.map((id) => `names ${id} twice, once as the vendor that signs users in`),
    ...new Set(malformed.map((scope) => `has the scope ${JSON.stringify(scope)}, which is not one scope`)),
  ];
  if (known.scopes === undefined) {
    const others = ids.filter((id) => id !== signIn);
    return [...problems, ...others.map((id) => `names the vendor ${id}, and VENDOR is ${signIn}`)];
  }
  if (named.length === 0 && (tool.scopes ?? []).length > 0) problems.push("names scopes and not their vendor");
  for (const { id, scopes } of named) {
    const configured = known.scopes.get(id);
    if (!known.scopes.has(id)) problems.push(`names the vendor ${id}, which is not in VENDORS`);
    else if (scopes === undefined) problems.push(`names the vendor ${id} without \`scopes\`; [] says none`);
    else if (configured !== undefined)
      problems.push(...scopes.filter((scope) => !configured.includes(scope)).map((scope) => lacks(id, scope)));
  }
  return problems;
}

function lacks(id: string | undefined, scope: string): string {
  return `needs the scope ${scope}, which is not in ${id === undefined ? "VENDOR_" : prefixOf(id)}SCOPES`;
}
