/**
 * Every row of the security bar, by family, and the scripted attacks. A new row goes into the file
 * of its family.
 */
import { ACROSS, CALLBACK, SCRIPTS, START } from "./flow.ts";
import { LINKED_VENDORS } from "./linked-vendors.ts";
import { AUTHORIZATION_SERVER, RESOURCE_SERVER } from "./mcp-server.ts";
import { REFRESH_PROTOCOL } from "./refresh-protocol.ts";
import type { Requirement } from "./requirement.ts";
import { OPERATIONS, SURFACE } from "./surface.ts";
import { AT_REST, REFRESH } from "./token-store.ts";
import { ANSWERS, CREDENTIALS, EGRESS_ROWS, REQUESTS, USERINFO } from "./vendor-leg.ts";

export interface Family {
  /** Before the number: `CB` of `CB-6`. The steps and crashes of the refresh are those of `8`. */
  readonly name: string;
  readonly title: string;
  /** The number of rows. */
  readonly count: number;
}

/** In the order of a flow. */
export const FAMILIES: readonly Family[] = [
  { name: "ST", title: "Starting a flow", count: 10 },
  { name: "CB", title: "Callback and state", count: 17 },
  { name: "XA", title: "Across apps, clients and users", count: 12 },
  { name: "X", title: "Scripted attacks, each with a twin", count: 13 },
  { name: "VR", title: "Requests to vendors", count: 10 },
  { name: "ID", title: "ID tokens", count: 9 },
  { name: "JW", title: "Vendors' keys", count: 4 },
  { name: "DI", title: "Vendors' metadata", count: 3 },
  { name: "UI", title: "Userinfo", count: 2 },
  { name: "RF", title: "Refresh", count: 9 },
  { name: "RV", title: "Revocation", count: 4 },
  { name: "DC", title: "Registering clients at vendors", count: 9 },
  { name: "BY", title: "Credentials a caller brings", count: 5 },
  { name: "EG", title: "What our requests may reach", count: 12 },
  { name: "HT", title: "HTTP surface", count: 10 },
  { name: "TS", title: "Tokens at rest", count: 20 },
  { name: "AS", title: "An MCP server's own authorization server", count: 22 },
  { name: "RS", title: "An MCP server's resource server", count: 9 },
  { name: "LK", title: "Several vendors, each linked once", count: 10 },
  { name: "OB", title: "Operation and supply", count: 7 },
  { name: "8", title: "How a token is refreshed once", count: 20 },
];

export const REQUIREMENTS: readonly Requirement[] = [
  ...START,
  ...CALLBACK,
  ...ACROSS,
  ...SCRIPTS,
  ...REQUESTS,
  ...ANSWERS,
  ...USERINFO,
  ...REFRESH,
  ...CREDENTIALS,
  ...EGRESS_ROWS,
  ...SURFACE,
  ...AT_REST,
  ...AUTHORIZATION_SERVER,
  ...RESOURCE_SERVER,
  ...LINKED_VENDORS,
  ...OPERATIONS,
  ...REFRESH_PROTOCOL,
];
