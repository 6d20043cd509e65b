import { afterEach, describe, expect, it } from "vitest";
import { type ScriptedVendor, startScriptedVendor } from "./scripted-vendor.ts";

let vendor: ScriptedVendor;
afterEach(() => vendor.close());

const get = async (path: string): Promise<readonly [number, string]> => {
  const answer = await fetch(`${vendor.url}${path}`, { method: "POST", body: new URLSearchParams({ a: "b" }) });
  return [answer.status, await answer.text()];
};

describe("the scripted vendor", () => {
  it("answers each path by its script, any other by `*`, or with 404", async () => {
    vendor = await startScriptedVendor({
      "/token": ({ form, query }) => ({ status: 201, body: { form: form.get("a"), query: query.get("q") } }),
    });
    expect(await get("/token?q=1")).toEqual([201, '{"form":"b","query":"1"}']);
    expect(await get("/else")).toEqual([404, ""]);
    expect(vendor.received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/token", "a=b"],
      ["POST", "/else", "a=b"],
    ]);
    await vendor.close();
    vendor = await startScriptedVendor({ "*": { body: "text" } }, { keepsRequests: false });
    expect(await get("/any")).toEqual([200, "text"]);
    expect(vendor.received).toEqual([]);
  });

  it("cuts the connection if its script throws", async () => {
    vendor = await startScriptedVendor({
      "/throws": () => {
        throw new Error("in the script");
      },
    });
    await expect(get("/throws")).rejects.toThrow("fetch failed");
  });
});
