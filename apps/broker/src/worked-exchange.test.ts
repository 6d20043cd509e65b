/**
 * docs/api.md shows one authorization from the pushed request to the refresh, as it goes over the
 * wire. This test performs it, replaces random values by the names on the page, and compares byte
 * for byte.
 */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { basic, CLIENT_SECRET, CODE_VERIFIER, ISSUER, REDIRECT_URI, testBroker } from "./testing/test-broker.ts";

const PAGE = new URL("../../../docs/api.md", import.meta.url);
const CODE_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** The names on the page for values that differ each time, the longest first. */
type Names = [value: string, name: string][];

async function play(): Promise<string> {
  const names: Names = [[basic("platform", CLIENT_SECRET).replace("Basic ", ""), "CREDENTIALS"]];
  const exchanges: string[] = [];
  let count = 0;
  const broker = await testBroker({
    vendorAnswers: async () => {
      count += 1;
      return Response.json({
        access_token: `vendor-access-${count}`,
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: `vendor-refresh-${count}`,
      });
    },
  });
  const send = async (method: string, path: string, headers: Record<string, string>, form?: Record<string, string>) => {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const type = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
    const sent = { host: new URL(ISSUER).host, ...headers, ...type };
    const answer = await broker.app.request(`${ISSUER}${path}`, {
      method,
      headers: { ...headers, ...type },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const lines = (all: Iterable<[string, string]>): string[] => [...all].map(([name, value]) => `${name}: ${value}`);
    exchanges.push(
      [`${method} ${path} HTTP/1.1`, ...lines(Object.entries(sent)), "", body ?? ""].join("\n").trimEnd(),
      [`HTTP/1.1 ${answer.status}`, ...lines(answer.headers), "", text].join("\n").trimEnd(),
    );
    return { answer, body: text === "" ? {} : (JSON.parse(text) as Record<string, string>) };
  };
  const post = (path: string, form: Record<string, string>) =>
    send("POST", path, { authorization: basic("platform", CLIENT_SECRET) }, form);

  const pushed = await post("/v1/par", {
    client_id: "platform",
    response_type: "code",
    vendor: "acme",
    redirect_uri: REDIRECT_URI,
    scope: "read",
    state: "of-the-platform",
    code_challenge: CODE_CHALLENGE,
    code_challenge_method: "S256",
  });
  const requestUri = pushed.body["request_uri"] ?? "";
  const [flowId = ""] = requestUri.split(":").at(-1)?.split(".") ?? [];
  names.push([requestUri.split(".").at(-1) ?? "", "HANDLE"], [flowId, "FLOW"]);

  const query = new URLSearchParams({ client_id: "platform", request_uri: requestUri });
  const left = await send("GET", `/v1/authorize?${query.toString()}`, {});
  const vendor = new URL(left.answer.headers.get("location") ?? "");
  const cookie = left.answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const state = vendor.searchParams.get("state") ?? "";
  names.push([state, "STATE"], [vendor.searchParams.get("code_challenge") ?? "", "CHALLENGE"]);
  names.push([cookie.split("=")[1] ?? "", "COOKIE"]);

  const back = await send("GET", `/v1/callback?${new URLSearchParams({ code: "vendor-code", state }).toString()}`, {
    cookie,
  });
  const code = new URL(back.answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
  names.push([code.split(".").at(-1) ?? "", "SECRET"]);

  const own = { redirect_uri: REDIRECT_URI, code_verifier: CODE_VERIFIER };
  const tokens = await post("/v1/token", { grant_type: "authorization_code", code, ...own });
  const connection = tokens.body["connection"] ?? "";
  names.push([connection, "CONNECTION"]);

  await post("/v1/token", { grant_type: "refresh_token", refresh_token: "vendor-refresh-1", connection });
  await broker.close();
  const shown = exchanges.map((message) =>
    names.reduce((text, [value, name]) => text.replaceAll(value, name), message),
  );
  return shown.map((message) => `\`\`\`http\n${message}\n\`\`\`\n`).join("\n");
}

it("the exchange of docs/api.md is what goes over the wire", async () => {
  const page = await readFile(PAGE, "utf8");
  const blocks = [...page.matchAll(/^```http\n[^]*?^```\n/gm)].map(([block]) => block);
  expect(blocks.join("\n")).toBe(await play());
});
