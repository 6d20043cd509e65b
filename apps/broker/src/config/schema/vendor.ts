/**
 * One entry of `vendors`: the registry's fields spelled in snake_case, plus the credentials, which
 * only an operator has.
 */
import { checkName } from "@oauth-broker/service/configuration";
import type { z } from "zod";
import { forEachRules, type UrlRules } from "./endpoint.ts";
import { choice, mapOf, oneOrList, secret, section, text } from "./fields.ts";
import { vendorFieldSchemas } from "./vendor-fields.ts";
import { checkPlaceholderName, checkToken } from "./checks.ts";
import { checkCredentialIds, credentialsSchema, placeholderSchema } from "./vendor-parts.ts";

export const vendorSchema = forEachRules(buildVendorSchema);

function buildVendorSchema(rules: UrlRules) {
  return section({
    name: text({
      description: "Shown to users. Needed for a vendor of your own.",
      example: "My Vendor",
      check: checkName,
    }).optional(),
    ...vendorFieldSchemas(rules),
    placeholders: mapOf({
      type: "mapping of names to sections",
      description:
        "The {placeholders} of its endpoints, filled by each request: one label of a host, one segment of a path, a value of a query.",
      example: '{ tenant: { pattern: "[a-z0-9]+", default: common } }',
      default: "{}",
      name: checkPlaceholderName,
      of: placeholderSchema,
    }).optional(),
    clients_of: choice({
      description:
        "Who issues its clients. `vendor`: one client is good at every tenant. `tenant`: at the tenant that issued it, so that the broker's credentials are used at the values under `placeholders` alone.",
      example: "vendor",
      default:
        "as the registry says; else `tenant` if a placeholder without a list of values is in a host that receives the client secret",
      values: ["vendor", "tenant"],
    }).optional(),
    credentials: oneOrList({
      type: "one entry or a list",
      description:
        "What we are registered as. The first is used for new flows, the rest refresh and revoke only; where each tenant issues its own clients, the first that is used at the tenant. Without any: VENDOR_<ID>_CLIENT_ID and VENDOR_<ID>_CLIENT_SECRET.",
      check: checkCredentialIds,
      of: credentialsSchema,
    }).optional(),
    initial_access_token: secret({
      description:
        "Sent with dynamic client registration at this vendor, where neither the request nor the client's owner has one.",
      example: "env:NOTION_IAT",
      check: checkToken,
    }).optional(),
    setup: choice({
      description: "What must happen before it works for an organization.",
      example: "none",
      default: "none",
      values: ["none", "vendor_approval", "environment_id"],
    }).optional(),
  });
}

export type ParsedVendor = z.infer<ReturnType<typeof vendorSchema>>;
