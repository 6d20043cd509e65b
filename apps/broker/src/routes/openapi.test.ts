import { expect, it } from "vitest";
import { openApiDocument } from "./openapi.ts";
import { testBroker } from "../testing/test-broker.ts";

const document = openApiDocument("https://broker.example") as {
  openapi: string;
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
  await close();
});

it("resolves every reference it makes", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(0);
  for (const [, group = "", name = ""] of references) expect(document.components[group]?.[name], name).toBeDefined();
  expect(document.openapi).toBe("3.1.0");
});
