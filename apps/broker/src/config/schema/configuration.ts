/**
 * The schema of the whole file. Top-level fields are here; clients and vendors have their own
 * modules.
 */
import { matching } from "@oauth-broker/oauth-core";
import { checkProxy } from "@oauth-broker/oauth-core/egress";
import {
  checkListenHost,
  checkName,
  checkOrigin,
  checkVendorId,
  CONNECTIONS,
  IDLE_SECONDS,
} from "@oauth-broker/service/configuration";
import { z } from "zod";
import { parseAudit } from "../audit.ts";
import { KEYS_PATTERN, parseKeys, parseStore, STORE_PATTERN } from "../store-and-keys.ts";
import { clientSchema } from "./client.ts";
import { flag, integer, listOf, mapOf, networks, parsedText, secret, section, text, vendorIds } from "./fields.ts";
import { checkToken } from "./checks.ts";
import { vendorSchema } from "./vendor.ts";
import { forEachRules, type UrlRules } from "./endpoint.ts";

const ownerSchema = section({
  id: text({
    type: "1 to 64 of A-Z a-z 0-9 . _ -",
    description: "Names the organization; clients refer to it.",
    example: "acme",
    check: matching(/^[A-Za-z0-9._-]{1,64}$/, "has characters an owner id must not have"),
  }),
  name: text({
    description: "The organization's own name, as users see it; without one they see the id.",
    example: "Acme Corp",
    check: checkName,
  }).optional(),
  approved_vendors: vendorIds(
    "Vendors with `setup: vendor_approval` that have approved this organization.",
    "A vendor that has approved this organization.",
  ).default([]),
  initial_access_token: mapOf({
    type: "mapping of vendor id to token",
    description:
      "The organization's own initial access tokens for dynamic client registration, each for one vendor; used before the vendor's.",
    example: "{ notion: env:ACME_NOTION_IAT }",
    name: checkVendorId,
    of: secret({ description: "The token for this vendor.", example: "env:ACME_NOTION_IAT", check: checkToken }),
  }).optional(),
});

function perMinute(description: string, usual: number) {
  return integer({ description, example: String(usual), least: 0, most: 1_000_000 }).prefault(usual);
}

const limitsSchema = section({
  par_per_minute: perMinute("Pushed requests per client and minute; 0 = no limit.", 600),
  explain_per_minute: perMinute("Requests to `/v1/explain` per client and minute; 0 = no limit.", 60),
  vendor_calls_per_minute: perMinute(
    "Requests to `/v1/token`, `/v1/revoke`, `/v1/check` and `/register` together, per client and minute; 0 = no limit. At most 60 of them are registrations, unless this is 0.",
    6000,
  ),
  body_bytes: integer({
    description: "The largest request body.",
    example: "65536",
    least: 1,
    most: 10_485_760,
  }).prefault(65_536),
});

/** grants/single-flight.ts sizes the lease of a refresh for calls up to this length. */
const LONGEST_CALL_MS = 15_000;

const egressSchema = section({
  allow_loopback: flag({
    description:
      "Permits http and any port on loopback for vendor endpoints, those in requests included. For tests and sandboxes.",
    example: "false",
  }).prefault(false),
  allow_cidrs: networks(
    "Private networks that endpoints in this file may be in, on any port. Endpoints in requests never reach them.",
    "A private network.",
  ).default([]),
  timeout_ms: integer({
    type: "milliseconds",
    description:
      "For one call to a vendor, from connecting to the last byte. At most 15000, because a process holds a refresh only as long as calls of that length can take.",
    example: "10000",
    least: 100,
    most: LONGEST_CALL_MS,
    whyMost:
      "one process holds a refresh for as long as calls this long can take, and after that another may send the same refresh token again",
  }).prefault(10_000),
  ca_file: text({
    type: "path of a PEM file",
    description: "Certificate authorities trusted besides the usual ones.",
    example: "/etc/broker/internal-ca.pem",
  }).optional(),
  proxy: secret({
    type: "secret, http or https URL of host and port, with user name and password if it asks for them",
    description:
      "A forward proxy for every call to a vendor, by CONNECT and for names alone. Vendors and endpoints of requests are then refused, because no address could be checked. Loopback, addresses in `allow_cidrs` and private names (`.internal`, names without a dot) are reached without it; any other name is asked of it, wherever it leads. Proxy variables are not read.",
    example: "env:EGRESS_PROXY",
    check: checkProxy,
  }).optional(),
});

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8787;

/** @param rules what endpoints in this file may be; from the file's own egress section */
export const configurationSchema = forEachRules(buildConfigurationSchema);

function buildConfigurationSchema(rules: UrlRules) {
  return section({
    base_url: text({
      type: "https origin without path and trailing slash (http on loopback only); or BASE_URL",
      description: "Where clients and browsers reach the broker; its issuer, byte for byte.",
      example: "https://broker.example.com",
      keywords: {
        pattern: String.raw`^(?:https://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])|http://(?:localhost|\[::1\]|127(?:\.\d{1,3}){3}))(?::\d{1,5})?$`,
        not: { pattern: "^https:.*:443$" },
      },
      check: checkOrigin,
    }),
    listen: section({
      host: text({
        type: "address or host name; or HOST",
        description: "The address to listen on.",
        example: "0.0.0.0",
        check: checkListenHost,
      }).default(DEFAULT_HOST),
      port: integer({
        type: "port; or PORT",
        description: "The port to listen on; 0 takes a free one.",
        example: "8787",
        least: 0,
        most: 65_535,
      }).prefault(DEFAULT_PORT),
      max_connections: integer({
        description:
          "Connections of one process at a time; more are closed at once, and those of one address beyond a quarter of them.",
        example: String(CONNECTIONS.usual),
        ...CONNECTIONS,
      }).prefault(CONNECTIONS.usual),
      idle_seconds: integer({
        description:
          "How long a connection may be idle between two requests. Behind a load balancer: longer than the balancer keeps idle connections, else a request meets the end of its connection.",
        example: "65",
        ...IDLE_SECONDS,
      }).prefault(IDLE_SECONDS.usual),
      trusted_proxies: networks(
        "Proxies in front of the broker: each may take all connections, instead of the quarter that one address has.",
        "Addresses of a proxy.",
      ).default([]),
    }).prefault({}),
    store: parsedText({
      type: "sqlite:PATH | dynamodb:TABLE?region=REGION&endpoint=URL | memory; or STORE",
      description:
        "Where flows are kept while they last: a file for the processes of one machine, a DynamoDB table for any number of machines (its `endpoint` may be left out), or memory for tests.",
      example: "sqlite:./data/broker.sqlite",
      keywords: { pattern: STORE_PATTERN },
      parse: parseStore,
    }).prefault("sqlite:./data/broker.sqlite"),
    keys: parsedText({
      type: "store | file:PATH | kms:ARN",
      description:
        "Where the broker's own keys are: `store`, in the store, sealed by a key file beside it; `kms:ARN`, in the store, sealed under a KMS key (ARN of the key or of an alias); `file:PATH`, in a separate file. With a DynamoDB store `kms:ARN`, or a file that exists already.",
      example: "kms:arn:aws:kms:eu-west-1:111122223333:alias/oauth-broker",
      keywords: { pattern: KEYS_PATTERN },
      parse: parseKeys,
    }).prefault("store"),
    keys_min_revision: integer({
      description:
        "The lowest revision of the broker's own keys that is taken, so that an older keyset put back into the store does not undo a rotation. `main.js keys list` and `keys rotate` print the line to set. Beside a key file the broker keeps it itself, in `KEYFILE.revision`; needed with a DynamoDB store and `kms:`.",
      example: "4",
      least: 0,
      most: 1_000_000_000,
    }).optional(),
    audit: parsedText({
      type: "off | stdout | file:PATH",
      description:
        "Where a line for each event of the audit stream goes: a file, in a folder that is there, or stdout among the lines of the log. While the file cannot be written the API answers 503. See `docs/observability.md`.",
      example: "file:/var/log/broker/audit.jsonl",
      keywords: { pattern: String.raw`^(?:off|stdout|file:[^\0]+)$` },
      parse: parseAudit,
    }).prefault("off"),
    cell: text({
      type: "1 to 16 of a-z 0-9",
      description: "Prefix of every id, so that an edge can route a flow to the region that owns it.",
      example: "eu1",
      check: matching(/^[a-z0-9]{1,16}$/, "must be 1 to 16 of a-z and 0-9"),
    }).optional(),
    owners: listOf({
      type: "list",
      description:
        "The organizations clients belong to. Where clients of several owners share a vendor's credentials, users see a page that names client and owner before they leave for the vendor (clients without owner count as one owner).",
      of: ownerSchema,
    }).default([]),
    // The sandbox has none: load.ts refuses a file without.
    clients: z.preprocess(
      (value) => value ?? [],
      listOf({
        type: "list",
        description: "The backends that may use the broker: at least one.",
        keywords: { minItems: 1 },
        of: clientSchema(rules),
      }),
    ),
    vendors: mapOf({
      type: "mapping of vendor id to fields",
      description: "Credentials and changes for registry vendors, and vendors of your own.",
      name: checkVendorId,
      of: vendorSchema(rules),
    }).default({}),
    limits: limitsSchema.prefault({}),
    egress: egressSchema.prefault({}),
  });
}

export type ParsedConfiguration = z.infer<ReturnType<typeof configurationSchema>>;
export type ParsedOwner = ParsedConfiguration["owners"][number];
