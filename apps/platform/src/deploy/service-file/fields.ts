/**
 * The fields of service.yaml: one table for the reader, its messages and service.schema.json.
 */
import type { Deployment } from "../../connectors/connector.ts";

export const MODES: readonly Deployment["mode"][] = ["hosted", "pre-registered", "none"];

interface Field {
  readonly description: string;
  /** The shape of a value, in a few words. */
  readonly expected: string;
  /** As it would be written in the file. */
  readonly example: string;
}

export const FIELDS = {
  name: {
    description: "The id of the connector: a part of the server's URL and of its table's name.",
    expected: "2 to 63 lower case letters, digits and -, a letter first",
    example: "name: my-server",
  },
  mode: {
    description:
      "`hosted`: the server has its own authorization server. `pre-registered`: the platform sends it each user's vendor token. `none`: a server without OAuth.",
    expected: MODES.join(" | "),
    example: "mode: hosted",
  },
  enable_db: {
    description: "Whether the server gets its own table. Hosted mode needs it.",
    expected: "true | false",
    example: "enable_db: true",
  },
  service: {
    description:
      "`expose` lists the paths that are served without a bearer token: a path, or with `/*` at its end all below it. In hosted mode alone; never /mcp.",
    expected: "expose: a list of paths",
    example: "service: {expose: [/.well-known/oauth-authorization-server, /authorize, /token]}",
  },
  environment: {
    description:
      "The server's variables. `env:NAME` takes one from the environment of the deploy, which has to allow it by name (deploy run --env NAME).",
    expected: "NAME: value",
    example: "environment: {VENDOR: my-vendor}",
  },
} as const satisfies Readonly<Record<string, Field>>;
