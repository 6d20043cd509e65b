import { describe, expect, it } from "vitest";
import { isPublicSuffix, registrableDomainOf } from "./public-suffix.ts";
import { words } from "../testing/corpora/words.ts";

describe("isPublicSuffix", () => {
  it.each([
    ...words(`com uk app co.uk com.au org.br uk.com us.org github.io workers.dev cloudfront.net`),
    "",
    // Registries and hosters of the public suffix list, its private section included.
    ...words(`kyoto.jp s3.amazonaws.com lambda-url.eu-west-1.on.aws azure-api.net up.railway.app hf.space supabase.co
      blob.core.windows.net`),
    // What the list lacks.
    ...words(`kr.com b-cdn.net loca.lt azurecontainerapps.io westeurope.azurecontainerapps.io nip.io`),
  ])("anyone can register below %j", (suffix) => {
    expect(isPublicSuffix(suffix)).toBe(true);
  });

  it.each([
    ...words(`okta.com zendesk.com wiz.io example.co.uk a.github.io xco.uk co.ukx a.uk.com`),
    // One party answers at all hosts below.
    "googleapis.com",
    "myshopify.com",
    // A company's own, though its label is one that other countries sell below.
    "id.me",
    "xb-cdn.net",
  ])("only its owner names hosts below %s", (suffix) => {
    expect(isPublicSuffix(suffix)).toBe(false);
  });
});

describe("registrableDomainOf", () => {
  it.each([
    ["auth.vendor.example", "vendor.example"],
    ["vendor.co.uk", "vendor.co.uk"],
    ["a.tenant.github.io", "tenant.github.io"],
    ["bucket.s3.amazonaws.com", "bucket.s3.amazonaws.com"],
    ["x.project.supabase.co", "project.supabase.co"],
    ["app.env.westeurope.azurecontainerapps.io", "env.westeurope.azurecontainerapps.io"],
    ["oauth2.googleapis.com", "googleapis.com"],
    ["bucket.storage.googleapis.com", "bucket.storage.googleapis.com"],
    ["shop.myshopify.com", "myshopify.com"],
    ["api.id.me", "id.me"],
    ["login.10.0.0.1.nip.io", "login.10.0.0.1.nip.io"],
    ["github.io", "github.io"],
    ["localhost", "localhost"],
    ["internal", "internal"],
    ["{region}.vendor.example", "vendor.example"],
    ["127.0.0.1:8080", "127.0.0.1"],
    ["[::1]:8080", "[::1]"],
  ])("of %j is %j", (host, domain) => {
    expect(registrableDomainOf(`https://${host}/token`)).toBe(domain);
  });

  it.each(["", "nonsense", "{host}/token", "https://[{a}/x"])("of %j is an error that names the rule", (url) => {
    expect(() => registrableDomainOf(url)).toThrow("An endpoint must be an absolute URL");
  });
});
