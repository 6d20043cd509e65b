import { expect, it } from "vitest";
import { renderConfiguration } from "./config-docs.ts";

it("makes a table of the settings, pipes and line breaks made harmless", () => {
  const page = renderConfiguration(
    [
      {
        path: "egress.timeout_ms",
        type: "integer",
        default: "10000",
        description: "How long\na vendor may take",
        example: "5000",
      },
      { path: "store", type: "sqlite:PATH | memory:", description: "Where flows are kept" },
    ],
    [
      { name: "PORT", type: "port", default: "8788", description: "Where it listens.", example: "0" },
      { name: "OAUTH_CALLBACK", type: "platform or server", description: "Whose.", example: "server", use: "hosted" },
    ],
  );
  expect(page).toContain("| `egress.timeout_ms` | integer | `10000` | How long a vendor may take | `5000` |");
  expect(page).toContain("| `store` | sqlite:PATH \\| memory: |  | Where flows are kept |  |");
  expect(page).toContain("| `PORT` |  | port | 8788 | Where it listens. | `0` |");
  expect(page).toContain("| `OAUTH_CALLBACK` | hosted | platform or server |  | Whose. | `server` |");
  expect(page.split("\n")[0]).toBe("<!-- Generated. Remake: npm run docs -->");
});
