import { expect, it } from "vitest";
import { renderConfiguration } from "./config-docs.ts";

it("puts settings and environment variables in a table each, pipes made harmless", () => {
  const page = renderConfiguration([
    {
      path: "egress.timeout_ms",
      type: "integer",
      default: "10000",
      description: "How long\na vendor may take",
      example: "5000",
    },
    { path: "BASE_URL", type: "url", description: "Replaces base_url | wins over the file" },
  ]);
  const [file = "", variables = ""] = page.split("## Environment variables");
  expect(file).toContain("| `egress.timeout_ms` | integer | `10000` | How long a vendor may take | `5000` |");
  expect(variables).toContain("| `BASE_URL` | url |  | Replaces base_url \\| wins over the file |  |");
  expect(page.split("\n")[0]).toBe("<!-- Generated. Remake: npm run docs -->");
});
