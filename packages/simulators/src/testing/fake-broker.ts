/**
 * The part of the broker's contract that the sample platform uses, with responses set by the test.
 * e2e tests the platform with the real broker; here only the platform is under test.
 */
import { text } from "node:stream/consumers";
import { listen } from "../listen.ts";

// A JWT with iss and sub; no code here verifies its signature.
const CLAIMS = Buffer.from(JSON.stringify({ iss: "https://vendor.example", sub: "user-1" })).toString("base64url");

export const TOKENS = {
  access_token: "access-token-one",
  token_type: "Bearer",
  expires_in: 3600,
  refresh_token: "refresh-token-one",
  scope: "openid api:read",
  vendor_id_token: `e30.${CLAIMS}.x`,
  vendor: "sandbox",
  connection: "sealed-connection",
  vendor_data: {},
};

export interface Posted {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface FakeBroker {
  readonly url: string;
  /** Every POST so far, oldest first. */
  readonly posted: readonly Posted[];
  /** The response of /v1/token from now on. */
  tokenAnswer: { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
  /** The response of /v1/revoke from now on. */
  revocationAnswer: { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
  /** The parameters of the redirect to the platform beside `state`. */
  callbackMembers: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * `/v1/authorize` redirects the browser straight back to the pushed redirect_uri: there is no
 * vendor here.
 */
export async function startFakeBroker(): Promise<FakeBroker> {
  const listening = await listen(0);
  const { url, server } = listening;
  const posted: Posted[] = [];
  const broker: FakeBroker = {
    url,
    posted,
    tokenAnswer: { status: 200, body: TOKENS },
    revocationAnswer: { status: 200, body: { revoked: "grant" } },
    callbackMembers: { code: "broker-code", iss: url, flow_id: "flow-1" },
    close: () => listening.close(),
  };

  server.on("request", (request, response) => {
    const path = new URL(request.url ?? "/", url).pathname;
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    const back = (): void => {
      const pushed = posted.findLast((entry) => entry.path === "/v1/par")?.form;
      const members = new URLSearchParams({ state: pushed?.get("state") ?? "", ...broker.callbackMembers });
      response.writeHead(303, { Location: `${pushed?.get("redirect_uri")}?${members.toString()}` }).end();
    };
    void text(request).then((body) => {
      const { authorization } = request.headers;
      if (request.method === "POST") posted.push({ path, form: new URLSearchParams(body), authorization });
      if (path === "/v1/par") return json(201, { request_uri: "urn:r:1", expires_in: 300 });
      if (path === "/v1/token") return json(broker.tokenAnswer.status, broker.tokenAnswer.body);
      if (path === "/v1/revoke") return json(broker.revocationAnswer.status, broker.revocationAnswer.body);
      return path === "/v1/authorize" ? back() : json(200, metadata(url));
    });
  });
  return broker;
}

function metadata(url: string): Readonly<Record<string, unknown>> {
  return {
    issuer: url,
    authorization_endpoint: `${url}/v1/authorize`,
    token_endpoint: `${url}/v1/token`,
    revocation_endpoint: `${url}/v1/revoke`,
    pushed_authorization_request_endpoint: `${url}/v1/par`,
    require_pushed_authorization_requests: true,
    authorization_response_iss_parameter_supported: true,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  };
}
