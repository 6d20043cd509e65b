/**
 * service.schema.json: service.yaml as an editor checks it while it is written. It accepts every
 * file that the deploy accepts, if the server accepts its variables.
 */
import { parse } from "yaml";
import { CONNECTOR_ID } from "../../connectors/store-on-records.ts";
import { VARIABLE_NAME } from "./allowed-variables.ts";
import { PLATFORM_VARIABLES, TOKEN_MODES } from "./environment.ts";
import { CLOSED, DOTS, EXPOSED, NEEDED } from "./expose.ts";
import { FIELDS, MODES } from "./fields.ts";

/** A variable of the servers that are deployed. */
export interface DescribedVariable {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly example: string;
  readonly choices?: readonly string[];
  readonly range?: { readonly least: number; readonly most: number };
}

/** YAML's own types are written as text. */
const SCALAR = ["string", "number", "boolean", "null"];

/**
 * @param variables of servers made from the template, which an editor completes. A server may have
 *   others.
 */
export function serviceJsonSchema(variables: readonly DescribedVariable[]): object {
  const known = variables
    .filter(({ name }) => !PLATFORM_VARIABLES.has(name))
    .map((variable) => [
      variable.name,
      {
        description: `${variable.description} Format: ${variable.type}.`,
        examples: [variable.example],
        ...valuesOf(variable),
      },
    ]);
  const tokenMode = { type: "string", enum: TOKEN_MODES };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "A server that the platform deploys (service.yaml)",
    type: "object",
    additionalProperties: false,
    required: ["name", "mode"],
    properties: {
      name: { ...describe("name"), type: "string", pattern: CONNECTOR_ID.source },
      mode: { ...describe("mode"), enum: MODES },
      enable_db: { ...describe("enable_db"), type: "boolean", default: false },
      service: {
        ...describe("service"),
        type: "object",
        additionalProperties: false,
        properties: {
          expose: {
            description: FIELDS.service.description,
            type: ["array", "null"],
            uniqueItems: true,
            items: { type: "string", pattern: EXPOSED.source, not: { pattern: `${DOTS.source}|${CLOSED.source}` } },
          },
        },
      },
      environment: {
        ...describe("environment"),
        type: ["object", "null"],
        propertyNames: { pattern: VARIABLE_NAME.source },
        properties: {
          ...Object.fromEntries(known),
          ...Object.fromEntries([...PLATFORM_VARIABLES].map((name) => [name, false])),
          TOKEN_ENCRYPTION_MODE: tokenMode,
        },
        additionalProperties: { type: SCALAR },
      },
    },
    allOf: [
      ifMode(["hosted"], {
        required: ["enable_db", "service"],
        properties: {
          enable_db: { const: true },
          service: { required: ["expose"], properties: { expose: exposesAll() } },
        },
      }),
      ifMode(["pre-registered", "none"], { properties: { service: { not: { required: ["expose"] } } } }),
      ...MODES.map((mode) =>
        ifMode([mode], { properties: { environment: { properties: { OAUTH_MODE: { const: mode } } } } }),
      ),
      implies(
        { not: { properties: { enable_db: { const: true } }, required: ["enable_db"] } },
        { properties: { environment: { properties: { TOKEN_ENCRYPTION_MODE: false } } } },
      ),
    ],
  };
}

/** A variable that is set to nothing is not set. */
function valuesOf({ choices, range }: DescribedVariable): object {
  const reference = { type: "string", pattern: "^(?:env:.*)?$" };
  if (choices?.includes("true") === true)
    return { anyOf: [{ type: "boolean" }, { enum: choices }, reference, { type: "null" }] };
  if (choices !== undefined) return { anyOf: [{ enum: choices }, reference, { type: "null" }] };
  if (range === undefined) return { type: SCALAR };
  const number = { type: "integer", minimum: range.least, maximum: range.most };
  return { anyOf: [number, { type: "string", pattern: String.raw`^\d{1,9}$` }, reference, { type: "null" }] };
}

function describe(name: keyof typeof FIELDS): object {
  const { description, example } = FIELDS[name];
  return { description, examples: Object.values(parse(example) as object) };
}

const implies = (condition: object, consequence: object): object => ({ anyOf: [{ not: condition }, consequence] });

const ifMode = (modes: readonly string[], consequence: object): object =>
  implies({ properties: { mode: { enum: modes } }, required: ["mode"] }, consequence);

/** Each path the platform needs is in the list, or a path above it with `/*`. */
function exposesAll(): object {
  const above = (path: string): string[] =>
    path.split("/").flatMap((_, index, parts) => (index < 2 ? [] : [`${parts.slice(0, index).join("/")}/*`]));
  return { allOf: NEEDED.map((path) => ({ contains: { enum: [path, ...above(path)] } })), type: "array" };
}
