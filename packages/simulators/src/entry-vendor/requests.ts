/**
 * Requests to the simulated vendor and its refusals: each parameter once, under the vendor's own
 * name, in the body format that the entry says, and none that the entry does not say; our client
 * authenticates exactly the entry's way.
 */
import type { KeyObject } from "node:crypto";
import { jwtVerify, type JWTVerifyOptions, type JWTVerifyResult } from "jose";
import type { Facts, Json } from "./facts.ts";
import type { VendorState } from "./state.ts";

/** A request as the proxy received it. */
export interface VendorRequest {
  readonly method: string;
  /** With the vendor's own host, as https. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** An error of the vendor, with the reason for the proof's report. */
export type Refusal = ReturnType<typeof refusal>;

/**
 * @param code the error the vendor answers with
 * @param why for the proof, never part of the answer
 */
export function refusal(code: string, why: string, status = 400) {
  return Object.assign(new Error(why), { code, status });
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && "code" in error && "status" in error;
}

/** Parameters of one request, each of which is taken once. */
export type Parameters = ReturnType<typeof readParameters>;

/** @throws Refusal invalid_request when a parameter is there twice */
export function readParameters(pairs: Iterable<readonly [string, string]>, { parameterNames }: Facts) {
  const left = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (left.has(name)) throw refusal("invalid_request", `the parameter ${name} is there twice`);
    left.set(name, value);
  }
  const take = (standard: string): string | undefined => {
    const name = parameterNames[standard] ?? standard;
    const value = left.get(name);
    left.delete(name);
    return value;
  };
  return {
    /** @param standard its name in the standard; the vendor may have another */
    take,
    /** @throws Refusal invalid_request when it is absent */
    require: (standard: string): string => {
      const value = take(standard);
      if (value !== undefined && value !== "") return value;
      throw refusal("invalid_request", `the parameter ${parameterNames[standard] ?? standard} is missing`);
    },
    /**
     * @param fixed by the vendor's own names
     * @throws Refusal invalid_request when one is absent, or has another value
     */
    requireFixed: (fixed: Readonly<Record<string, string>>): void => {
      for (const [name, value] of Object.entries(fixed)) {
        const given = left.get(name);
        left.delete(name);
        if (given !== value) throw refusal("invalid_request", `${name} is ${given ?? "missing"}, not ${value}`);
      }
    },
    /** @throws Refusal invalid_request when a parameter was never taken */
    requireNoOther: (): void => {
      if (left.size === 0) return;
      throw refusal("invalid_request", `the entry has no parameter ${[...left.keys()].join(", ")} here`);
    },
  };
}

/**
 * @param format that the entry says
 * @returns the members of a body
 * @throws Refusal invalid_request for another format
 */
export function readBody({ headers, body }: VendorRequest, format: "form" | "json"): (readonly [string, string])[] {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim();
  const wanted = format === "json" ? "application/json" : "application/x-www-form-urlencoded";
  if (type !== wanted) throw refusal("invalid_request", `the body is ${type ?? "of no type"}, not ${wanted}`);
  if (format === "form") return [...new URLSearchParams(body)];
  const value = JSON.parse(body) as Readonly<Record<string, Json>>;
  return Object.entries(value).map(([name, member]) => [name, textOf(member)] as const);
}

/** @returns a text as it is, and anything else as JSON */
export function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** @returns the token of the Authorization header; undefined for another scheme, or none */
export function bearerToken({ headers }: VendorRequest): string | undefined {
  return /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "")?.[1];
}

/** @param path names from the outside in, a list's first position as 0: `team.id`, `errors.0.code` */
export function nested(path: string, value: Json): Json {
  const [name = "", ...rest] = path.split(".");
  const inner = rest.length === 0 ? value : nested(rest.join("."), value);
  return name === "0" ? [inner] : { [name]: inner };
}

/** @returns both objects in one, and members that both have merged likewise */
export function merge(a: Json | undefined, b: Json): Json {
  if (!isObject(a) || !isObject(b)) return b;
  const merged: Record<string, Json> = { ...a };
  for (const [name, value] of Object.entries(b)) merged[name] = merge(a[name], value);
  return merged;
}

export function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws Refusal invalid_client with 401 */
export async function requireClient(request: VendorRequest, parameters: Parameters, state: VendorState): Promise<void> {
  const { facts, client } = state;
  const header = request.headers.get("authorization");
  const clientId = parameters.take("client_id");
  if (clientId !== undefined && clientId !== client.clientId) throw refusedClient("client_id is not known");
  if (facts.clientAssertion !== undefined && client.certificate !== undefined) {
    if (header !== null) throw refusedClient("an Authorization header beside a certificate");
    return requireAssertion(parameters, state);
  }
  if (facts.tokenEndpointAuthMethod === "client_secret_basic") {
    if (header === null) throw refusedClient("no Authorization header: the entry says Basic");
    const [user, password] =
      facts.secretIsUserName === true ? [client.clientSecret, ""] : [client.clientId, client.clientSecret];
    if (header !== basic(user, password)) throw refusedClient("wrong Basic credentials");
    return;
  }
  if (header !== null) throw refusedClient("an Authorization header: the entry says no Basic");
  if (clientId === undefined) throw refusedClient("client_id is missing in the body");
  if (facts.tokenEndpointAuthMethod === "none") return;
  const secret = parameters.take("client_secret");
  if (secret === undefined) throw refusedClient("client_secret is missing in the body");
  if (facts.clientSecret !== undefined) return requireSignedSecret(secret, state);
  if (secret !== client.clientSecret) throw refusedClient("wrong client_secret");
}

function refusedClient(why: string): Error {
  return refusal("invalid_client", why, 401);
}

/** @returns the value of an Authorization header, as RFC 6749 2.3.1 has it */
export function basic(clientId: string, clientSecret: string): string {
  const encode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64")}`;
}

async function requireSignedSecret(secret: string, state: VendorState): Promise<void> {
  const { clientSecret: form } = state.facts;
  const { secretKey } = state.client;
  if (form === undefined || secretKey === undefined) throw refusedClient("the client has no key for signed secrets");
  const signed = { algorithms: [form.alg], audience: form.audience, issuer: secretKey.teamId };
  const { iat = 0, exp = 0 } = (await verify("the signed secret", secret, secretKey.key, signed, state)).payload;
  if (exp - iat > form.lifetimeSeconds || exp <= state.now()) throw refusedClient("the signed secret lives too long");
}

async function requireAssertion(parameters: Parameters, state: VendorState): Promise<void> {
  const { facts, client, endpoints } = state;
  const { key, thumbprint } = client.certificate!;
  const type = parameters.take("client_assertion_type");
  const assertion = parameters.take("client_assertion");
  if (type !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || assertion === undefined) {
    throw refusedClient("no assertion of the certificate");
  }
  const audience = [endpoints.get("token"), endpoints.get("refresh")].flatMap((url) => (url ? [url.href] : []));
  const signed = { algorithms: [facts.clientAssertion!.alg], audience, issuer: client.clientId };
  const { protectedHeader } = await verify("the assertion", assertion, key, signed, state);
  if (protectedHeader["x5t#S256"] !== thumbprint) throw refusedClient("the assertion names another certificate");
}

function verify(
  what: string,
  jwt: string,
  key: KeyObject,
  signed: JWTVerifyOptions,
  { client, now }: VendorState,
): Promise<JWTVerifyResult> {
  const options = { ...signed, subject: client.clientId, currentDate: new Date(now() * 1000) };
  return jwtVerify(jwt, key, options).catch((error: unknown) => {
    throw refusedClient(`${what}: ${String(error)}`);
  });
}
