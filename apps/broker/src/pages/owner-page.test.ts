/** What the page says of scopes. In a browser: e2e/scenarios/broker/owner-page.test.ts. */
import { expect, it } from "vitest";
import { testClient } from "../testing/test-broker.ts";
import { ownerPage } from "./owner-page.ts";

const shown = {
  client: testClient("platform"),
  vendor: { name: "Acme" },
  flow: { scope: ["read", "constructor", "<odd>"], redirectUri: "https://platform.example/cb" },
  requestUri: "urn:x",
  csrf: "c",
  flowId: "f",
};

it("bar#AS-10 says what the entry knows of a scope beside it, and of others nothing", () => {
  const page = String(
    ownerPage({ ...shown, vendor: { name: "Acme", scopeMeanings: { read: "Read <your> notes" } } }, {}).body,
  );
  expect(page).toContain(
    "Read &lt;your&gt; notes <code>read</code><br><code>constructor</code><br><code>&lt;odd&gt;</code>",
  );
  expect(String(ownerPage(shown, {}).body)).toContain("<code>read</code><br><code>constructor</code>");
});
