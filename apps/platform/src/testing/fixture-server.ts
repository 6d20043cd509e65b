/**
 * A deployed server with a fault that a test chooses: the OAuth surface of a hosted server, written
 * by hand, without a vendor and without a store. `node fixture-server.ts` runs it like an author's
 * server; FAULT names the fault.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type FixtureFault =
  | "global-auth"
  | "global-forbidden"
  | "accepts-any-caller"
  | "no-challenge"
  | "no-oauth"
  | "cannot-check"
  | "foreign-issuer"
  | "foreign-resource"
  | "resource-without-lists"
  | "server-without-lists"
  | "no-s256"
  | "endpoints-elsewhere"
  | "no-register"
  | "register-refuses"
  | "authorize-refuses"
  | "authorize-back-here"
  | "authorize-breaks"
  | "consent-page"
  | "revoke-missing"
  | "redirects-discovery"
  | "no-resource-metadata"
  | "token-wants-client";

export const FIXTURE_EXPOSE = ["/.well-known/*", "/authorize", "/token", "/register", "/revoke"];
export const FIXTURE_CLIENT = "client-of-the-fixture";
const VENDOR = "https://vendor.example/authorize";

/** @param url its public address */
export function fixtureServer(url: string, fault?: FixtureFault) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    const json = (status: number, body: unknown, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    const redirect = (location: string): void => void response.writeHead(303, { location }).end();
    request.resume();
    if (fault === "global-auth" && request.headers.authorization !== "Bearer good") {
      json(401, { error: "invalid_token" }, { "www-authenticate": "Bearer" });
      return;
    }
    if (fault === "global-forbidden" && pathname !== "/mcp") {
      json(403, {});
      return;
    }
    switch (pathname) {
      case "/mcp":
        if (fault === "no-oauth" || fault === "accepts-any-caller") json(200, { jsonrpc: "2.0", id: 1, result: {} });
        else if (fault === "cannot-check" && request.headers.authorization !== undefined)
          json(503, { error: "temporarily_unavailable", reason: "vendor_credentials_rejected" });
        else if (fault === "no-challenge") json(401, {});
        else json(401, {}, { "www-authenticate": "Bearer" });
        return;
      case "/.well-known/oauth-protected-resource":
      case "/.well-known/oauth-protected-resource/mcp":
        json(fault === "no-resource-metadata" ? 404 : 200, {
          resource: `${url}/mcp`,
          authorization_servers:
            fault === "resource-without-lists" ? 1 : [fault === "foreign-resource" ? "https://other.example" : url],
        });
        return;
      case "/.well-known/oauth-authorization-server":
        if (fault === "redirects-discovery") redirect("https://login.example");
        else json(200, metadata(url, fault));
        return;
      case "/authorize": {
        const back = searchParams.get("redirect_uri") ?? "";
        if (fault === "authorize-breaks" || searchParams.get("client_id") !== FIXTURE_CLIENT) json(400, {});
        else if (fault === "authorize-refuses") redirect(`${back}?error=invalid_scope`);
        else if (fault === "authorize-back-here") redirect(`${url}/login`);
        else if (fault === "consent-page") response.writeHead(200, { "content-type": "text/html" }).end("<p>Consent");
        else redirect(VENDOR);
        return;
      }
      case "/token":
        if (fault === "token-wants-client") json(401, { error: "invalid_client" });
        else json(request.method === "POST" ? 400 : 404, {});
        return;
      case "/register":
        if (fault === "register-refuses" || request.method !== "POST") json(400, {});
        else json(201, { client_id: FIXTURE_CLIENT });
        return;
      case "/revoke":
        json(fault === "revoke-missing" ? 404 : 400, {});
        return;
      default:
        json(404, {});
    }
  };
}

function metadata(url: string, fault: FixtureFault | undefined): Record<string, unknown> {
  const base = fault === "endpoints-elsewhere" ? "https://other.example" : url;
  return {
    issuer: fault === "foreign-issuer" ? `${url}/` : url,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    ...(fault === "no-register" ? {} : { registration_endpoint: `${base}/register` }),
    response_types_supported: ["code"],
    ...(fault === "server-without-lists" ? { scopes_supported: 1 } : {}),
    code_challenge_methods_supported: fault === "no-s256" ? ["plain"] : ["S256"],
  };
}

if (import.meta.main) {
  const { DEPLOYMENT_URL = "", PORT, FAULT } = process.env;
  if (FAULT === "does-not-start") {
    process.stderr.write("VENDOR_CLIENT_ID is missing\n");
    process.exit(3);
  }
  const server = createServer(fixtureServer(DEPLOYMENT_URL, FAULT as FixtureFault | undefined));
  server.listen(Number(PORT), "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ url: DEPLOYMENT_URL })}\n`));
  process.on("SIGTERM", () => process.exit(0));
}
