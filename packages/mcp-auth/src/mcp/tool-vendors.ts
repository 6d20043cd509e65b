/**
 * The vendors that tools name, against those of the deployment: a tool that can never run is
 * refused at start. Called by app.ts, and by endpoint.ts for the names of each tool.
 */
import { type ConfigError, configError, type Problem } from "@oauth-broker/oauth-core/configuration";
import { prefixOf } from "../config/reader.ts";
import type { Settings } from "../settings.ts";
import { SIGN_IN_VENDOR, type Tool } from "../tool.ts";

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
  return named.map(({ name, scopes }) => ({ name, scopes, id: name === SIGN_IN_VENDOR ? signIn : name }));
}

/**
 * @throws ConfigError listing every problem: a vendor that this deployment does not have, or has
 *   without a scope that the tool needs
 */
export function requireKnownVendors(tools: readonly Tool[], settings: Settings): void {
  const problems = tools.flatMap((tool) =>
    problemsOf(tool, settings).map((problem) => ({ path: `tool ${tool.name}`, problem })),
  );
  if (problems.length > 0) throw errorOf(problems);
}

function problemsOf(tool: Tool, settings: Settings): string[] {
  if (tool.vendors !== undefined && (tool.vendor !== undefined || tool.scopes !== undefined))
    return ["has `vendors`, so it cannot have `vendor` or `scopes` beside it"];
  const linking = settings.mode === "hosted" ? settings.linking : undefined;
  const signIn = linking?.signIn ?? settings.vendor.vendor.id;
  const named = vendorsOf(tool, signIn);
  const ids = named.map(({ id }) => id);
  const doubled = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
  const problems = doubled.map((id) => `names ${id} twice, once as the vendor that signs users in`);
  if (linking === undefined) {
    const others = ids.filter((id) => id !== signIn);
    return [...problems, ...others.map((id) => `names the vendor ${id}, and VENDOR is ${signIn}`)];
  }
  if (named.length === 0 && (tool.scopes ?? []).length > 0) problems.push("names scopes and not their vendor");
  for (const { id, scopes } of named) {
    const vendor = linking.vendors.get(id);
    if (vendor === undefined) problems.push(`names the vendor ${id}, which is not in VENDORS`);
    else if (scopes === undefined) problems.push(`names the vendor ${id} without \`scopes\`; [] says none`);
    else problems.push(...scopes.filter((scope) => !vendor.scopes.includes(scope)).map((scope) => lacks(id, scope)));
  }
  return problems;
}

function lacks(id: string, scope: string): string {
  return `needs the scope ${scope}, which is not in ${prefixOf(id)}SCOPES`;
}

function errorOf(problems: readonly Problem[]): ConfigError {
  return configError(problems, {
    service: "The server",
    source: "its tools",
    next: "Correct the tools or the environment and start it again.",
  });
}
