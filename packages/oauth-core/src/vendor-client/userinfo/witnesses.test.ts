/**
 * Every witnessed account replayed against its entry (testing/vendor-witnesses): the call is sent as
 * it was seen, and the identity is found, stable, and another one for another account.
 */
import { expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../ports.ts";
import { REGISTRY } from "../../registry/registry.ts";
import { surprisesOf } from "../../testing/vendor-witnesses/misfits.ts";
import { type Replay, type ReplayedRequest, replayVendor, templateOf } from "../../testing/vendor-witnesses/replay.ts";
import { readWitnesses, type Witness, type WitnessedAccount } from "../../testing/vendor-witnesses/witnesses.ts";
import { canIdentify } from "./identify.ts";
import { memberAt } from "../member-path.ts";

interface WithIdentity extends Witness {
  readonly account: WitnessedAccount & { readonly identity: string };
}

const WITNESSES = readWitnesses().filter(
  (witness): witness is WithIdentity => typeof witness.account?.identity === "string",
);
const ACCESS_TOKEN = "access-token-0001";

it.each(WITNESSES)("a witnessed account identifies its user at $id", async (witness) => {
  const checks = {
    account: async (): Promise<void> => {
      const problems = await Promise.all(
        alternativesOf(witness).map(async (one) =>
          identifies(one).then(
            () => undefined,
            (problem: unknown) => problem,
          ),
        ),
      );
      if (!problems.includes(undefined)) throw problems[0];
    },
  };
  expect(await surprisesOf(witness, checks)).toEqual([]);
});

/** The account as it was witnessed, then other members and calls that identify the same user. */
function alternativesOf({ account, ...witness }: WithIdentity): WithIdentity[] {
  const { also = [], other_identities: others = [] } = account;
  const calls = also.flatMap(({ shape, identity }, at) =>
    shape === undefined || typeof identity !== "string" ? [] : [{ ...account, ...also[at], shape, identity }],
  );
  return [account, ...others.map((identity) => ({ ...account, identity })), ...calls]
    .filter(({ shape, identity }) => memberAt(shape as JsonObject, identity) !== undefined)
    .map((one) => ({ ...witness, account: one }));
}

async function identifies(witness: WithIdentity): Promise<void> {
  const replay = replayVendor(witness.id);
  expect(canIdentify({ ...replay.vendor, issuesIdTokens: false })).toBe(true);
  const seen = await identifyAt(replay, witness, (shape) => shape);
  expect(seen).toBe(valueOf(witness.account.shape, witness.account.identity));
  const again = await identifyAt(replay, witness, (shape) => shape);
  const other = await identifyAt(replay, witness, (shape) => ofAnother(shape, witness.account.identity.split(".")));
  expect([again, other === seen]).toEqual([seen, false]);
  for (const request of replay.received) expectSentAsSeen(request, witness.account);
}

/** Products that customers install: their userinfo is OpenID Connect's by their own description. */
const OPENID_PRODUCTS: readonly string[] = ["authentik", "microsoft", "pingfederate"];

it("an entry identifies its users only by OpenID Connect, or as a witness says", () => {
  const witnessed = new Map(WITNESSES.map(({ id, account }) => [id, account.identity]));
  const unfounded = [...REGISTRY.values()].filter(
    ({ vendor: { id: own, issuer, account, userinfoEndpoint }, generationOf, verification }) => {
      if (verification.status === "first-class") return false;
      // The accounts of a vendor's apps of another generation are those of the first.
      const first = generationOf === undefined ? undefined : REGISTRY.get(generationOf.id);
      if (first !== undefined) expect(account, own).toEqual(account && first.vendor.account);
      const id = first?.vendor.id ?? own;
      if (account?.identity !== undefined)
        return [account.member ?? [], account.identity.join()].flat().join(".") !== witnessed.get(id);
      const isOpenId = issuer !== undefined || witnessed.get(id) === "sub" || OPENID_PRODUCTS.includes(id);
      return userinfoEndpoint !== undefined && !isOpenId && !witnessed.has(id);
    },
  );
  expect(unfounded.map(({ vendor }) => vendor.id)).toEqual([]);
});

/** With the token answer of a vendor whose tokens name their user. */
async function identifyAt(
  { client, vendor, answer }: Replay,
  { token, account }: WithIdentity,
  change: (shape: JsonValue) => JsonValue,
): Promise<string> {
  const { identity } = vendor;
  answer({ body: change(account.shape) });
  const value = valueOf(change(account.shape), account.identity);
  const named = typeof identity === "object" ? Object.fromEntries(identity.members.map((name) => [name, value])) : {};
  const vendorData = { ...token?.shape, ...named };
  return client.identify(vendor, { accessToken: ACCESS_TOKEN, tokenType: "Bearer", vendorData });
}

/** As text: a number too. */
function valueOf(shape: JsonValue, path: string): string {
  const value = memberAt(shape as JsonObject, path);
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : expect.fail(path);
}

/** The same account with another identity. */
function ofAnother(shape: JsonValue, [name, ...rest]: readonly string[]): JsonValue {
  if (name === undefined) return typeof shape === "number" ? shape + 1 : `${shape as string}2`;
  if (Array.isArray(shape))
    return shape.map((one: JsonValue, at) => (at === Number(name) ? ofAnother(one, rest) : one));
  const members = shape as JsonObject;
  return { ...members, [name]: ofAnother(members[name] ?? null, rest) };
}

function expectSentAsSeen({ method, url, headers, body }: ReplayedRequest, account: WitnessedAccount): void {
  const { auth, auth_parameters: [place = ""] = [], auth_header: header = "authorization" } = account;
  const { auth_scheme: scheme = account.auth_header === undefined ? "Bearer" : "" } = account;
  const stripped = new URL(url);
  const form = new URLSearchParams(auth === "form" ? body : "");
  if (auth === "query") {
    expect(stripped.searchParams.get(place)).toBe(ACCESS_TOKEN);
    stripped.searchParams.delete(place);
  }
  if (auth === "form")
    expect([form.get(place), ...(account.form ?? []).map((name) => form.has(name))]).toEqual([
      ACCESS_TOKEN,
      ...(account.form ?? []).map(() => true),
    ]);
  if (auth === "path") expect(url.pathname.split("/")).toContain(ACCESS_TOKEN);
  expect(method).toBe(account.method);
  expect(decodeURIComponent(stripped.href)).toMatch(templateOf(account.url));
  if (auth === "bearer" || auth === "header" || auth === null)
    expect(headers.get(header)).toBe(`${scheme} ${ACCESS_TOKEN}`.trim());
  else expect(headers.has("authorization")).toBe(false);
  for (const [name, value] of Object.entries(account.headers ?? {}))
    expect(headers.get(name)).toEqual(name === "User-Agent" ? expect.any(String) : value);
  if (account.body !== undefined) expect(JSON.parse(body)).toEqual(account.body);
}
