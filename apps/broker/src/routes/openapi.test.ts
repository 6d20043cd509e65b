import { expect, it } from "vitest";
import { openApiDocument } from "./openapi.ts";
import { testBroker } from "../testing/test-broker.ts";

const document = openApiDocument("https://broker.example") as {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  components: Record<string, Record<string, unknown>>;
};

it("describes exactly the paths that exist", async () => {
  const { app, close } = await testBroker();
  const served = new Set(app.routes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}")));
  expect(new Set(Object.keys(document.paths))).toEqual(served);
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key === "get" || key === "post")
      .map((method) => `${method} ${path}`),
  );
  expect(described.length).toBeGreaterThan(15);
  for (const route of described) {
    const [method = "", path = ""] = route.split(" ");
    expect(document.paths[path]?.[method]?.responses, route).toBeTypeOf("object");
  }
  await close();
});

it("describes every method that a path has: any other is a 405 with Allow", async () => {
  const { app, close } = await testBroker();
  for (const [path, item] of Object.entries(document.paths)) {
    const known = ["get", "post"].filter((method) => method in item);
    for (const method of ["get", "post", "put", "delete"].filter((name) => !known.includes(name))) {
      const { status, headers } = await app.request(`https://broker.example${path.replace(/\{\w+\}/, "op")}`, {
        method,
      });
      const seen = { method, path, status, allow: headers.get("allow"), cache: headers.get("cache-control") };
      const allow = known.join(", ").toUpperCase();
      expect(seen).toEqual({ method, path, status: 405, allow, cache: "no-store" });
    }
  }
  await close();
});

it("resolves every reference it makes", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(0);
  for (const [, group = "", name = ""] of references) expect(document.components[group]?.[name], name).toBeDefined();
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
});

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  ["get", "post"].flatMap((method) =>
    item[method] === undefined ? [] : [{ path, method, ...(item[method] as Operation) }],
  ),
);

it("names each operation once, and says of each whether it needs a client (#29)", () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name ?? ""))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const open = operations
    .filter(({ security }) => security?.length === 0)
    .map(({ path, method }) => `${method} ${path}`);
  for (const path of ["get /healthz", "get /v1/authorize", "post /v1/callback", "get /"]) expect(open).toContain(path);
  for (const path of ["post /v1/par", "post /v1/token", "post /register", "get /v1/vendors"]) {
    expect(open).not.toContain(path);
  }
});

it("documents the refusals of the list of vendors, and answers with them (#29)", async () => {
  const { app, close } = await testBroker();
  const of = operations.find(({ path }) => path === "/v1/vendors");
  for (const [url, headers] of [
    [`/v1/vendors?q=${"x".repeat(65)}`, {}],
    ["/v1/vendors?q=a&q=b", {}],
    ["/v1/vendors", { authorization: "Basic eDp5" }],
  ] as const) {
    const { status } = await app.request(`https://broker.example${url}`, { headers });
    expect([400, 401]).toContain(status);
    expect(of?.responses[String(status)]).toBeDefined();
  }
  await close();
});

it("gives what a vendor answers to a registration no shape of ours", () => {
  const { responses = {} } = document.paths["/register"]?.["post"] ?? {};
  expect(Object.keys(responses)).toEqual(["201", "431", "default"]);
  expect(responses["default"]).toMatchObject({ content: { "*/*": {} } });
});

it("describes everything, with an example of each body (#29)", () => {
  const descriptions = [...JSON.stringify(document).matchAll(/"description":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, one]) => one,
  );
  expect(descriptions.length).toBeGreaterThan(100);
  expect(descriptions.filter((one = "") => !/^[A-Z`].* .*[.?]$/.test(one))).toEqual([]);
  const bodies = [
    ...JSON.stringify(document.paths).matchAll(/"application\/x-www-form-urlencoded":\{"schema":.*?\}\}/g),
  ];
  expect(bodies.length).toBeGreaterThan(5);
  for (const { path, method, ...operation } of operations) {
    const body = (operation as { readonly requestBody?: { readonly content: Record<string, object> } }).requestBody;
    for (const media of Object.values(body?.content ?? {})) {
      const hasExample = "examples" in media || "example" in media;
      expect([path, method, hasExample]).toEqual([path, method, true]);
    }
  }
});
