/**
 * The files for Docker Compose without an engine of containers: their services as processes of the
 * built file, started as the image starts it, on a table made with its own arguments. The folders of
 * the image are folders of this test, and the service listens on a free port of loopback.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import { TABLE_SCHEMA } from "@oauth-broker/token-store";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../support/free-port.ts";
import { BROKER_FOLDER, ROOT } from "../../support/paths.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";
import { type ServiceProcess, startService, temporaryFolder } from "../../support/service-process.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

interface ComposeService {
  readonly image: string;
  readonly read_only?: boolean;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<"dynamodb" | "table" | "first-keys" | "broker", ComposeService>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
}

const readCompose = (file: string): Compose =>
  parse(readFileSync(join(ROOT, "deploy", file), "utf8"), { merge: true }) as Compose;
const compose = readCompose("compose-dynamodb.yaml");
const onOneFile = readCompose("compose.yaml");
const dockerfile = readFileSync(join(BROKER_FOLDER, "Dockerfile"), "utf8");
const SECRET = "a-secret-of-32-random-characters-of-this-test";
const DATA = "/var/lib/broker";

/** The image: what its Dockerfile copies, sets and starts. */
const image = {
  copied: /^COPY --from=build --chmod=0444 \/build\/(\S+) (\S+)$/m.exec(dockerfile),
  environment: Object.fromEntries(
    [...dockerfile.matchAll(/^(?:ENV)? +([A-Z_]+)=(\S+)(?: \\)?$/gm)].map(([, name = "", value = ""]) => [name, value]),
  ),
  entrypoint: JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]") as readonly string[],
  command: JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? "[]") as readonly string[],
};

const folder = temporaryFolder();
const here = (text: string, there: string): string => text.replaceAll(DATA, there);
const engine = shared(() => startDynamoDb());

async function startAsComposed(
  { services, configs }: Compose,
  name: "first-keys" | "broker",
  port: string,
  folder: string,
): Promise<ServiceProcess> {
  const service = services[name];
  // Then the volume is the only place it can write to, as here.
  expect(service.read_only).toBe(true);
  expect(service.volumes).toEqual([`data:${DATA}`]);
  const [configuration] = service.configs ?? [];
  expect(configuration?.target).toBe(image.environment["BROKER_CONFIG"]);
  const [, source = "", target] = image.copied ?? [];
  const [program, ...args] = [...(service.entrypoint ?? image.entrypoint), ...(service.command ?? image.command)].slice(
    service.entrypoint === undefined ? 0 : service.entrypoint.indexOf("node"),
  );
  expect([program, args[0]]).toEqual(["node", target]);
  const given = Object.entries({ ...image.environment, ...service.environment });
  const environment = Object.fromEntries(given.map(([variable, value]) => [variable, here(value, folder)]));
  return startService({
    name,
    file: join(ROOT, source),
    args: args.slice(1),
    folder,
    files: { "broker.yaml": here(configs[configuration?.source ?? ""]?.content ?? "", folder) },
    env: {
      ...environment,
      PLATFORM_SECRET: SECRET,
      ...(environment["AWS_ENDPOINT_URL_DYNAMODB"] === undefined ? {} : { AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint }),
      BROKER_CONFIG: join(folder, "broker.yaml"),
      BASE_URL: `http://127.0.0.1:${port}`,
      HOST: "127.0.0.1",
      PORT: port,
    },
  });
}

it("the table is made with the keys of every table", async () => {
  const [script = ""] = compose.services.table.command ?? [];
  const [, create = ""] = script.split("aws dynamodb create-table ");
  const { "table-name": name = "", ...flags } = Object.fromEntries(
    [...create.matchAll(/--([a-z-]+) (\S+(?: (?!--)\S+)*)/g)].map(([, flag = "", value = ""]) => [flag, value]),
  );
  const members = (text = ""): Record<string, string>[] =>
    text.split(" ").map((one) => Object.fromEntries(one.split(",").map((pair) => pair.split("="))) as never);
  const definition = {
    AttributeDefinitions: members(flags["attribute-definitions"]),
    KeySchema: members(flags["key-schema"]),
    BillingMode: flags["billing-mode"],
  };
  expect(definition).toEqual(TABLE_SCHEMA);
  expect(await engine.createTable(name, definition)).toBe("oauth-broker");
});

it("the first service makes the key file and exits 0; the broker stores a flow", async () => {
  plantSecret("client secret", SECRET);
  const port = String(await freePort());
  const first = await startAsComposed(compose, "first-keys", port, folder);
  await first.stop();
  expect(existsSync(join(folder, "keys.json"))).toBe(true);

  const broker = await startAsComposed(compose, "broker", port, folder);
  expect((await send(`${broker.url}/readyz`)).status).toBe(200);
  const flowId = await startFlow(broker);
  expect(JSON.stringify(await engine.items("oauth-broker"))).toContain(`RECORD#${flowId}`);
  await broker.stop();
});

it("without a table one service makes store and keys in the volume, and restarts on them", async () => {
  plantSecret("client secret", SECRET);
  expect(Object.keys(onOneFile.services)).toEqual(["broker"]);
  const volume = temporaryFolder();
  const port = String(await freePort());
  const first = await startAsComposed(onOneFile, "broker", port, volume);
  await startFlow(first);
  await first.stop();
  expect(existsSync(join(volume, "broker.sqlite"))).toBe(true);

  const second = await startAsComposed(onOneFile, "broker", port, volume);
  expect((await send(`${second.url}/readyz`)).status).toBe(200);
  await second.stop();
});

/** @returns the id of the flow that the client of both files has begun */
async function startFlow(broker: ServiceProcess): Promise<string> {
  const redirectUri = /redirect_uris: \[(.*)\]/.exec(compose.configs["broker"]?.content ?? "")?.[1] ?? "";
  const baseUrl = broker.url;
  const platform = createPlatform({ baseUrl, clientSecret: SECRET, redirectUri, vendor: "github", scope: "" });
  const own = { vendor_client_id: "our-client", vendor_client_secret: "our-secret-at-the-vendor", scope: "read:user" };
  return (await platform.push(own)).flowId;
}
