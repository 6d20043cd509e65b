/** broker.schema.json. That it agrees with the broker about each mistake: testing/agreement.ts. */
import { existsSync, readFileSync } from "node:fs";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { expect, it } from "vitest";
import { CLIENT, load, MINIMAL, OWN_VENDOR, problemsOf, SECRET } from "../testing/config-file.ts";
import { configurationJsonSchema } from "./json-schema.ts";

const EXAMPLE = new URL("../../../broker.example.yaml", import.meta.url);

it("is named by the example in its first line, which an editor reads", () => {
  const [, path = ""] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(EXAMPLE, "utf8")) ?? [];
  const schema = new URL(path, EXAMPLE);
  expect(existsSync(schema)).toBe(true);
  expect(JSON.parse(readFileSync(schema, "utf8"))).toMatchObject(configurationJsonSchema());
});

it("describes each field where an editor looks, with its default", () => {
  const { properties } = configurationJsonSchema();
  expect(properties?.["store"]).toMatchObject({
    description: expect.stringMatching(/^Where flows are kept/),
    default: "sqlite:./data/broker.sqlite",
    examples: ["sqlite:./data/broker.sqlite"],
  });
  const perMinute = { default: 600, description: expect.stringMatching(/^Pushed requests/), examples: [600] };
  expect(properties?.["limits"]).toHaveProperty(
    "anyOf.0.properties.par_per_minute",
    expect.objectContaining(perMinute),
  );
});

it("accepts references, quoted digits, empty fields, and one entry without brackets", () => {
  const env = { ID: "platform", HOST_NAME: "0.0.0.0", PORT_NUMBER: "80", YES: "true", SECRET };
  const file = {
    ...MINIMAL,
    listen: { host: "env:HOST_NAME", port: "env:PORT_NUMBER", idle_seconds: "60" },
    limits: null,
    egress: { allow_loopback: "env:YES", ca_file: null },
    clients: [{ ...CLIENT, client_id: "env:ID", client_secret: "file:secret", allow_overrides: "false" }],
    vendors: {
      github: null,
      "my-vendor": { ...OWN_VENDOR, credentials: { client_id: "env:ID", client_secret: SECRET } },
    },
  };
  expect(load(file, { env, files: { secret: SECRET }, registry: REGISTRY }).listen.port).toBe(80);
});

it("refuses what the broker refuses of a client", () => {
  const { client_secret: _, ...open } = CLIENT;
  expect(problemsOf({ clients: [open] })).toEqual(["clients[0] has no way to authenticate"]);
  expect(problemsOf({ clients: [{ ...CLIENT, client_secret: [SECRET, SECRET, SECRET] }] })).toHaveLength(1);
});
