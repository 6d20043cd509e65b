import { expect, it } from "vitest";
import { openApiDocument } from "./openapi.ts";
import { testBroker } from "../testing/test-broker.ts";

const document = openApiDocument("https://broker.example") as {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  components: Record<string, Record<string, unknown>>;
};

it("describes exactly the routes that exist", async () => {
  const { app, close } = await testBroker();
  const served = new Set(
    app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`),
  );
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key === "get" || key === "post")
      .map((method) => `${method} ${path}`),
  );
  expect(new Set(described)).toEqual(served);
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
