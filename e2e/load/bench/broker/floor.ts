/**
 * The floor of the bench: the cost of the four wire steps on plain Node. Bare node:http and
 * node:crypto, one process, records in a Map. Not a broker for real use.
 *
 * Included, because no broker of this shape can do without:
 * - client authentication on every POST (Basic, SHA-256, constant time); parsing; JSON and
 * redirects; `no-store`
 * - random flow ids, request_uri, code and cookie, each stored as its SHA-256 where only its bearer
 * should have it
 * - single use of request_uri, state and code; PKCE checked towards the client and made towards the
 * vendor
 * - a signed state, verified first; the vendor's code sealed with AES-256-GCM under a key derived
 * from the broker's code
 * - one keep-alive request to the vendor's token endpoint, whose answer is parsed before it is
 * handed on
 *
 * Not included, and so what the ratios of the bench show: a framework, a log, metrics, error pages,
 * expiry and timeline of records, key rotation and commitment, several vendors, clients and
 * credentials, the sealed `connection`, egress rules and time limits, every check that an honest
 * caller and an honest vendor pass; for refreshes the single flight.
 *
 * The code is plain and nowhere slowed down. One choice costs a tenth: random values come from
 * randomBytes one by one, as most code does; drawn in bulk, as the broker does, they would be
 * nearly free. Started by part.ts: `node floor.ts JSON` prints one JSON line with `url`.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { Parties } from "../../services.ts";

export type FloorOptions = Parties & { readonly port: number };

interface Flow {
  stage: "pushed" | "started" | "parked";
  readonly requestHash: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly scope: string;
  readonly codeChallenge: string;
  codeVerifier?: string;
  cookieHash?: string;
  codeHash?: string;
  sealed?: Buffer;
}

const options = JSON.parse(process.argv[2] ?? "{}") as FloorOptions;
const { clientId, redirectUri, vendor } = options;
const issuer = `http://127.0.0.1:${options.port}`;
const callbackUri = `${issuer}/v1/callback`;
const secretDigest = hash("sha256", options.clientSecret, "buffer");
const stateKey = randomBytes(32);
const flows = new Map<string, Flow>();

const agent = new Agent({ keepAlive: true, maxSockets: 50 });
const tokenUrl = new URL(vendor.tokenEndpoint);
const toVendor = { agent, method: "POST", host: tokenUrl.hostname, port: tokenUrl.port, path: tokenUrl.pathname };
const vendorAuthorization = `Basic ${Buffer.from(`${vendor.clientId}:${vendor.clientSecret}`).toString("base64")}`;

const server = createServer((request, response) => {
  const url = request.url ?? "/";
  const end = url.indexOf("?");
  const path = end === -1 ? url : url.slice(0, end);
  const query = (): URLSearchParams => new URLSearchParams(url.slice(end + 1));
  if (path === "/v1/par") readForm(request, (form) => par(request, form, response));
  else if (path === "/v1/authorize") authorize(query(), response);
  else if (path === "/v1/callback") callback(query(), request.headers.cookie ?? "", response);
  else if (path === "/v1/token") readForm(request, (form) => token(request, form, response));
  else json(response, 404, { error: "not_found" });
});

function par(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
  const codeChallenge = form.get("code_challenge") ?? "";
  if (!isClient(request)) return refuse(response, 401, "invalid_client");
  if (form.get("redirect_uri") !== redirectUri || form.get("vendor") !== vendor.id || codeChallenge.length !== 43) {
    return refuse(response, 400, "invalid_request");
  }
  const flowId = random(16);
  const handle = `${flowId}.${random(32)}`;
  flows.set(flowId, {
    stage: "pushed",
    requestHash: sha256(handle),
    redirectUri,
    state: form.get("state") ?? "",
    scope: form.get("scope") ?? "",
    codeChallenge,
  });
  json(response, 201, { request_uri: REQUEST_URI + handle, expires_in: 300 });
}

const REQUEST_URI = "urn:ietf:params:oauth:request_uri:";

function authorize(query: URLSearchParams, response: ServerResponse): void {
  const handle = (query.get("request_uri") ?? "").slice(REQUEST_URI.length);
  const flowId = flowIdOf(handle);
  const flow = flows.get(flowId);
  const isPushed =
    flow?.stage === "pushed" && flow.requestHash === sha256(handle) && query.get("client_id") === clientId;
  if (!isPushed) return refuse(response, 400, "invalid_request");
  const cookie = random(32);
  flow.stage = "started";
  flow.cookieHash = sha256(cookie);
  flow.codeVerifier = random(32);
  const state = `${flowId}.${Math.floor(Date.now() / 1000) + 600}`;
  const parameters = new URLSearchParams({
    response_type: "code",
    client_id: vendor.clientId,
    redirect_uri: callbackUri,
    scope: flow.scope,
    state: `${state}.${signatureOf(state)}`,
    code_challenge: sha256(flow.codeVerifier),
    code_challenge_method: "S256",
  });
  const there = `${vendor.authorizationEndpoint}?${parameters.toString()}`;
  redirect(response, there, `flow-${flowId}=${cookie}; Max-Age=600`);
}

function callback(query: URLSearchParams, cookies: string, response: ServerResponse): void {
  const [flowId = "", expiresAt = "", signature = ""] = (query.get("state") ?? "").split(".");
  const isOurs = isSame(signature, signatureOf(`${flowId}.${expiresAt}`)) && Number(expiresAt) > Date.now() / 1000;
  const name = `flow-${flowId}=`;
  const cookie = cookies.split("; ").find((pair) => pair.startsWith(name));
  const flow = isOurs ? flows.get(flowId) : undefined;
  const vendorCode = query.get("code");
  const isStarted = flow?.stage === "started" && flow.cookieHash === sha256(cookie?.slice(name.length) ?? "");
  if (!isStarted || vendorCode === null) return refuse(response, 400, "invalid_request");
  const code = `${flowId}.${random(32)}`;
  flow.stage = "parked";
  flow.codeHash = sha256(code);
  flow.sealed = seal(keyFrom(code), vendorCode);
  const parameters = new URLSearchParams({ code, state: flow.state, iss: issuer });
  redirect(response, `${flow.redirectUri}?${parameters.toString()}`, `flow-${flowId}=; Max-Age=0`);
}

function token(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
  if (!isClient(request)) return refuse(response, 401, "invalid_client");
  if (form.get("grant_type") === "refresh_token") {
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: form.get("refresh_token") ?? "" });
    return askVendor(body, response);
  }
  const code = form.get("code") ?? "";
  const flowId = flowIdOf(code);
  const flow = flows.get(flowId);
  const isRight =
    flow?.stage === "parked" &&
    flow.codeHash === sha256(code) &&
    flow.redirectUri === form.get("redirect_uri") &&
    isSame(sha256(form.get("code_verifier") ?? ""), flow.codeChallenge);
  if (!isRight || flow.sealed === undefined) return refuse(response, 400, "invalid_grant");
  flows.delete(flowId);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: open(keyFrom(code), flow.sealed),
    redirect_uri: callbackUri,
    code_verifier: flow.codeVerifier ?? "",
  });
  askVendor(body, response);
}

function askVendor(form: URLSearchParams, response: ServerResponse): void {
  const body = form.toString();
  const headers = {
    authorization: vendorAuthorization,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": body.length,
    accept: "application/json",
  };
  const call = send({ ...toVendor, headers }, (answer) => {
    readText(answer, (text) => {
      const tokens = JSON.parse(text) as Readonly<Record<string, unknown>>;
      const { access_token, token_type, expires_in, refresh_token, scope } = tokens;
      if (answer.statusCode !== 200 || typeof access_token !== "string")
        return refuse(response, 502, "vendor_response_invalid");
      json(response, 200, { access_token, token_type, expires_in, refresh_token, scope, vendor: vendor.id });
    });
  });
  call.on("error", () => refuse(response, 503, "temporarily_unavailable"));
  call.end(body);
}

function isClient({ headers }: IncomingMessage): boolean {
  const pair = Buffer.from((headers.authorization ?? "").slice("Basic ".length), "base64").toString();
  const [id = "", secret = ""] = pair.split(":");
  return timingSafeEqual(hash("sha256", secret, "buffer"), secretDigest) && id === clientId;
}

function signatureOf(text: string): string {
  return createHmac("sha256", stateKey).update(text).digest("base64url");
}

function flowIdOf(handle: string): string {
  return handle.slice(0, handle.indexOf("."));
}

function readForm(request: IncomingMessage, done: (form: URLSearchParams) => void): void {
  readText(request, (text) => done(new URLSearchParams(text)));
}

function readText(message: IncomingMessage, done: (text: string) => void): void {
  let text = "";
  message.setEncoding("utf8");
  message.on("data", (chunk: string) => void (text += chunk));
  message.on("end", () => done(text));
}

function json(response: ServerResponse, status: number, members: object): void {
  const body = JSON.stringify(members);
  const length = Buffer.byteLength(body);
  const headers = { "content-type": "application/json", "cache-control": "no-store", "content-length": length };
  response.writeHead(status, headers).end(body);
}

function redirect(response: ServerResponse, location: string, cookie: string): void {
  const headers = {
    location,
    "cache-control": "no-store",
    "content-length": 0,
    "set-cookie": `${cookie}; Path=/; HttpOnly; SameSite=Lax`,
  };
  response.writeHead(303, headers).end();
}

function refuse(response: ServerResponse, status: number, error: string): void {
  json(response, status, { error });
}

function seal(key: Buffer, text: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return decipher.update(sealed.subarray(12, -16)).toString() + decipher.final().toString();
}

/** The code has 256 random bits, so one HMAC derives a key from it. */
function keyFrom(code: string): Buffer {
  return createHmac("sha256", code).update("parked code").digest();
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

function random(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

process.on("SIGTERM", () => process.exit(0));
server.listen(options.port, "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ url: issuer })}\n`));
