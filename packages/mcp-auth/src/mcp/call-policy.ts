/**
 * How a call of `/mcp` comes to its vendors: with the one that the bearer token is for, or with those
 * that its user has linked. endpoint.ts chooses once; all else asks the policy.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Log } from "@oauth-broker/service";
import { scopesOfResource } from "../resource/scopes.ts";
import type { Tool, VendorApi } from "../tool.ts";
import type { RunningToolCall } from "./elicitation/call.ts";
import type { ElicitationDeps } from "./elicitation/deps.ts";
import { createExchange, type Exchange, type ExchangeDeps } from "./elicitation/exchange.ts";
import { askableAt } from "./elicitation/find-links.ts";
import { type LinkedAnswer, runLinked } from "./elicitation/run-linked.ts";
import { createWaiting } from "./elicitation/waiting.ts";
import type { NamedVendor } from "./tools/tool-vendors.ts";
import { createVendorApi, type VendorApiDeps } from "./tools/vendor-api.ts";

/** Runs the tool. @param only the vendor that `vendor` is; undefined: reading that throws */
export type RunTool = (
  vendors: Readonly<Record<string, VendorApi>>,
  only: VendorApi | undefined,
) => Promise<CallToolResult>;

export interface CallPolicy {
  /** The id of the vendor that signs users in, or of the only one. */
  readonly signIn: string;
  /** The vendor in the log of a request, while no tool is known. */
  readonly vendorOfRequest: string | undefined;
  /** @returns the vendors in the log of a call */
  vendorsOfCall(named: readonly NamedVendor[]): string | undefined;
  /** @returns what the bearer token must permit; undefined: everything that the vendor token does */
  scopesOf(tool: Pick<Tool, "vendors" | "scopes">, named: readonly NamedVendor[]): readonly string[] | undefined;
  /** Passes a request to the SDK, and its answer back. */
  readonly exchange: Exchange;
  /** Runs a call's tool with its vendors, or answers what its user is asked first. */
  run(call: RunningToolCall, tool: RunTool): Promise<LinkedAnswer>;
}

/** `VENDOR`. */
export function callsOfOne(deps: VendorApiDeps): CallPolicy {
  const { id } = deps.names;
  return {
    signIn: id,
    vendorOfRequest: id,
    vendorsOfCall: () => id,
    scopesOf: (tool, named) => {
      const scopes = tool.vendors === undefined ? tool.scopes : named.flatMap(({ scopes: of = [] }) => of);
      return scopes && scopesOfResource(scopes);
    },
    exchange: (request, _caller, serve) => serve(request, undefined, undefined),
    run: async ({ caller, named, signal }, tool) => {
      const vendor = createVendorApi(caller, signal, deps);
      return { answer: await tool(Object.fromEntries(named.map(({ name }) => [name, vendor])), vendor) };
    },
  };
}

/** `VENDORS`. */
export function callsOfSeveral(
  linking: ElicitationDeps,
  deps: VendorApiDeps & { readonly log: Log },
  limits: Pick<ExchangeDeps, "toolNames" | "maxBodyBytes">,
): CallPolicy {
  const wait = createWaiting(linking);
  return {
    signIn: linking.signIn,
    vendorOfRequest: undefined,
    vendorsOfCall: (named) => named.map(({ id }) => id).join(",") || undefined,
    scopesOf: (_tool, named) =>
      scopesOfResource(named.flatMap(({ id, scopes = [] }) => linking.nameScopes(scopes, id))),
    exchange: createExchange({ ...linking, ...limits, log: deps.log }),
    run: async (call, tool) => {
      const { named, caller, signal, linked } = call;
      if (linked === undefined) throw new TypeError("a call came without its links");
      const onAsked = (vendor: string, mode: string): void =>
        deps.log.info("link_asked", { tool: call.tool.name, vendor, clientId: caller.clientId, mode });
      return runLinked({ ...call, linked }, { ...linking, wait, onAsked }, (usable) => {
        const apis = named.flatMap((one) => {
          const [link, settings] = [usable.get(one.id), linking.vendors.get(one.id)];
          if (link === undefined || settings === undefined) return [];
          const { vendor, apiHosts } = settings;
          // Its own token, for its own hosts.
          const api = createVendorApi(link, signal, {
            ...deps,
            vendor: () => linking.resolve(vendor),
            names: { id: one.id, name: vendor.name },
            apiHosts,
            scopeReading: { scopeRefusal: vendor.scopeRefusal, askable: askableAt(one, linked.links, linking) },
          });
          return [[one.name, api] as const];
        });
        return tool(Object.fromEntries(apis), apis.length === 1 ? apis[0]?.[1] : undefined);
      });
    },
  };
}
