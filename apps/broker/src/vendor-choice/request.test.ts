/** What a request may write into the vendor's URL and into our requests to it. */
import { parseParameters } from "@oauth-broker/oauth-core/protocol";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { testBroker, testVendor } from "../testing/test-broker.ts";
import { parametersFor, readAskedParameters, readOwnCredentials } from "./request.ts";

const parametersOf = (form: Record<string, string>) => parseParameters(new URLSearchParams(form).toString());
const REFUSED = expect.objectContaining({ code: "invalid_request" });

describe("credentials of the client's own", () => {
  it.each(["vendor_client_id", "vendor_client_secret"])("have the edges of an operator's: %s", (name) => {
    for (const value of [" a", "a\u00a0", '"a"', "a \n"]) {
      expect(() => readOwnCredentials(parametersOf({ vendor_client_id: "mine", [name]: value }))).toThrow(
        `${name} must not begin or end with white space or a quotation mark`,
      );
    }
  });

  it("lose the marks of a file, as an operator's do", () => {
    const sent = parametersOf({ vendor_client_id: "\uFEFFmine\n", vendor_client_secret: "\uFEFFsecret\r\n\n" });
    const { clientId, clientSecret } = readOwnCredentials(sent) ?? {};
    expect([clientId, clientSecret?.reveal()]).toEqual(["mine", "secret"]);
  });

  it.each(["a\tb", "\u001bb", "a\u007f", "\u0085", "a\u0001"])("have no control character: %j", (value) => {
    const id = { vendor_client_id: "mine" };
    expect(() => readOwnCredentials(parametersOf({ vendor_client_id: value }))).toThrow(REFUSED);
    expect(() => readOwnCredentials(parametersOf({ ...id, vendor_client_secret: value }))).toThrow(REFUSED);
    expect(readOwnCredentials(parametersOf({ ...id, vendor_client_secret: "a b é" }))).toMatchObject({
      source: "byoc",
    });
  });
});

describe("bar#ST-4 a name in vendor_params", () => {
  const vendor = defineVendor({ id: "v", name: "V" });
  const read = (name: string) =>
    parametersFor(vendor, readAskedParameters(parametersOf({ vendor_params: JSON.stringify({ [name]: "x" }) })));

  it.each(["a b", " a", "stäte", "\u00a0", "state\u200b", "", "a".repeat(129)])("is visible ASCII: not %j", (name) => {
    expect(() => read(name)).toThrow(REFUSED);
  });

  it("may be any other", () => {
    expect(read("access_type~!").vendorParams).toEqual({ "access_type~!": "x" });
  });
});

describe("bar#ST-4 the query of an authorization endpoint of the request", () => {
  const names = { parameterNames: { client_id: "client_key" }, authorizationParameterNames: { redirect_uri: "back" } };
  const OWN = { vendor_client_id: "mine" };
  const ask = async (authorization_endpoint: string, more: Record<string, string> = {}) => {
    const { post, seen } = await testBroker({ vendor: names });
    const { body } = await post("/v1/explain", { vendor: "acme", ...OWN, authorization_endpoint, ...more });
    expect(seen).toEqual([]);
    return body;
  };

  it.each(["client_key=x", "a=b&%63lient_key=x", "back=x", "client_id=x", "Redirect.Uri=x", "state="])(
    "names no parameter that only we set, as the standard or the vendor calls it: %s",
    async (query) => {
      for (const host of ["acme.example", "tenant.example"]) {
        const body = await ask(`https://${host}/authorize?${query}`);
        expect(body).toMatchObject({ error: "invalid_request", reason: "reserved_parameter" });
      }
    },
  );

  it("is refused at a vendor that the request describes, too", async () => {
    const token_endpoint = "https://tenant.example/token";
    const custom = { vendor: "", token_endpoint };
    expect(await ask("https://tenant.example/a?client_id=x", custom)).toMatchObject({ reason: "reserved_parameter" });
    expect(await ask("https://tenant.example/a?client_key=x&response_mode=form_post", custom)).toMatchObject({
      tier: 3,
    });
  });

  it("may name others", async () => {
    expect(await ask("https://acme.example/v2?tenant=1")).toMatchObject({ tier: 3 });
    expect(testVendor().vendor.parameterNames).toEqual({});
  });
});
