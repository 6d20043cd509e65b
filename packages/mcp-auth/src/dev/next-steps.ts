/** The next steps with a server that has just started: printed once, on stderr. */
import { styleText } from "node:util";

export interface Started {
  readonly name: string;
  readonly url: string;
  readonly mode: string;
  /** Describes the practice vendor. */
  readonly about: string;
  /** Pre-registered mode with a practice vendor. */
  readonly token: string | undefined;
  /** Its users link several vendors. */
  readonly isLinking: boolean;
}

export function nextSteps({ name, url, mode, about, token, isLinking }: Started): string {
  const endpoint = `${url}/mcp`;
  const bold = (text: string): string => styleText("bold", text);
  return [
    "",
    `${bold(name)} runs in ${mode} mode, on ${about}.`,
    `  MCP endpoint   ${bold(endpoint)}`,
    ...(mode === "hosted" ? hostedSteps(endpoint) : preRegisteredSteps(endpoint, token)),
    ...(isLinking ? linkingSteps(url) : []),
    "  Tools          one file each in src/tools; saved is restarted. Ctrl-C ends it.",
    "",
  ].join("\n");
}

function hostedSteps(endpoint: string): string[] {
  return [
    "  Connect        give this URL to an MCP client of this machine (transport: Streamable HTTP); it asks you to sign in. For one:",
    "                 npx @modelcontextprotocol/inspector",
    `  Without one    curl -i -X POST ${endpoint}   (401: where to sign in)`,
  ];
}

function linkingSteps(url: string): string[] {
  return [
    "  Link           call a tool of another vendor, click the link it answers with, approve there, call the tool again.",
    `  Links          ${url}/connections   (what is linked, and how to end it)`,
  ];
}

function preRegisteredSteps(endpoint: string, token: string | undefined): string[] {
  const bearer = token ?? "VENDOR_TOKEN_OF_A_USER";
  return [
    token === undefined
      ? "  Connect        the platform sends each user's vendor token; here, use your own:"
      : "  Connect        the platform sends each user's vendor token; this one is of a practice user:",
    `                 curl ${endpoint} -H 'Authorization: Bearer ${bearer}' \\`,
    "                   -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\",
    `                   -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{}}}'`,
  ];
}
