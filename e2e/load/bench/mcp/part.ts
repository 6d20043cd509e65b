/**
 * The part of the bench for `/mcp`: what a tool call with a bearer token and a stored vendor token
 * costs beside the same server without auth, and how fast a refresh and a call are. Each server has
 * its own process on loopback: without auth, the same in hosted mode on SQLite and on DynamoDB with
 * KMS, and in pre-registered mode; a fake vendor and the AWS engines are behind them.
 */
import { join } from "node:path";
import { tableEnvironment } from "../../../support/aws/environment.ts";
import type { ServiceProcess } from "../../../support/service-process.ts";
import { openConnection } from "../../connection.ts";
import { startEngines } from "../../engines.ts";
import { LANES } from "../../lanes.ts";
import { callTool, connect, connectAtVendor, refresh, userName } from "../../mcp-client.ts";
import type { Rounds } from "../../rounds.ts";
import { startMcpServer, startVendor } from "../../services.ts";
import { onStage } from "../../stage.ts";
import { measurePart } from "../part.ts";
import { type Lane, servedSubject, watched } from "../served.ts";

const LABELS = {
  open: "without auth",
  sqlite: "hosted, SQLite",
  dynamodb: "hosted, DynamoDB + KMS",
  preRegistered: "pre-registered",
} as const;
/** `open`: no auth. `sqlite`, `dynamodb`: hosted mode. */
type Server = keyof typeof LABELS;
const SERVERS = Object.keys(LABELS) as Server[];

/** The largest allowed median ratio of a call that takes the vendor token, hosted mode on SQLite. */
const LIMIT = 1.25;

/**
 * `nothing`, `token`: a call of that tool, compared with the server without auth. `refresh`: our
 * refresh token spent at `/token`, then a call with the new tokens, if the server has its own
 * token endpoint.
 */
export const MCP_WORKS = [
  ...(["nothing", "token"] as const).flatMap((work) => {
    const nameOf = (on: Server): string => `${work === "token" ? "takes the token" : "does nothing"}, ${LABELS[on]}`;
    return SERVERS.map((on) => {
      const limit = work === "token" && on === "sqlite" ? LIMIT : undefined;
      return { work, on, name: nameOf(on), comparisons: on === "open" ? [] : [{ to: nameOf("open"), limit }] };
    });
  }),
  ...(["sqlite", "dynamodb"] as const).map((on) => {
    return { work: "refresh", on, name: `refresh at /token + call, ${LABELS[on]}`, comparisons: [], share: 0.25 };
  }),
];

const WITHOUT_AUTH = join(import.meta.dirname, "no-auth.ts");

/** The vendor names no client of a token, so none is expected. */
export const PRE_REGISTERED = {
  OAUTH_MODE: "pre-registered",
  PLATFORM_OAUTH_CALLBACK_URL: "",
  VENDOR_CLIENT_ID: "",
  VENDOR_CLIENT_SECRET: "",
} as const;

/**
 * Connections of different users to the server at `url`.
 *
 * @param vendorUrl only of a server in pre-registered mode
 */
export function mcpLanes(work: string, url: string, vendorUrl?: string): (number: number) => Promise<Lane> {
  return async (number) => {
    const connection = openConnection(url);
    const user = userName(number);
    let session = await (vendorUrl === undefined ? connect(connection, user) : connectAtVendor(vendorUrl, user));
    const run = async (): Promise<void> => {
      if (work === "refresh") session = await refresh(connection, session);
      await callTool(connection, session.accessToken, work === "refresh" ? "token" : work);
    };
    return { run, close: () => connection.close() };
  };
}

/** @param profiles a folder for CPU profiles of the servers */
export async function benchMcp(profiles: string | undefined, asked: Rounds, say: (line: string) => void) {
  return onStage(async (stage) => {
    const aws = await (await startEngines(stage)).open();
    const { url: vendorUrl } = await startVendor("named", stage);
    const start = async (name: Server, env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> => {
      const flags = [...watched(`mcp-${name}`, profiles), ...(name === "open" ? ["--import", WITHOUT_AUTH] : [])];
      return startMcpServer({ name, vendorUrl, flags, env }, stage);
    };
    const servers = {
      open: await start("open"),
      sqlite: await start("sqlite"),
      dynamodb: await start("dynamodb", tableEnvironment(aws)),
      preRegistered: await start("preRegistered", PRE_REGISTERED),
    };
    const subjects = MCP_WORKS.map(({ work, on, ...subject }) => {
      const server = servers[on];
      const openLane = mcpLanes(work, server.url, on === "preRegistered" ? vendorUrl : undefined);
      return servedSubject({ ...subject, server, openLane }, stage);
    });
    const about = `mcp: ${LANES} connections, ${aws.name}, a quarter as many refreshes`;
    return measurePart({ about, measured: "the process of a tool that …", subjects }, asked, say);
  });
}
