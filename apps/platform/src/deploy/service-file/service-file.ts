/**
 * service.yaml, the author's description of a server: `name`, `mode`, `enable_db`,
 * `service.expose`, `environment`. All problems are reported at once. Before it: the deploy
 * command. After it: server-process/ and the ingress.
 */
import { configError, type Problem, withoutNumbers } from "@oauth-broker/service/configuration";
import { nearest } from "@oauth-broker/oauth-core";
import { parseDocument, visit } from "yaml";
import type { Deployment } from "../../connectors/connector.ts";
import { isConnectorId } from "../../connectors/store-on-records.ts";
import type { Given } from "./allowed-variables.ts";
import { exposeProblems } from "./expose.ts";
import { readVariables, refusedNames } from "./environment.ts";
import { FIELDS, MODES } from "./fields.ts";

export interface ServiceFile {
  /** The id of the connector. */
  readonly name: string;
  readonly mode: Deployment["mode"];
  readonly enableDb: boolean;
  /** Paths served without a bearer token. */
  readonly expose: readonly string[];
  /** Values of `env:NAME` filled in. */
  readonly environment: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param source the path of the file, for messages
 * @param given the values for `env:NAME`; absent: references are left as they are
 * @throws ConfigError
 */
export function parseServiceFile(text: string, source: string, given?: Given): ServiceFile {
  const problems: Problem[] = [];
  const fields = readFields(text, problems);
  const file = fields && readFile(fields, given, problems);
  if (file !== undefined && problems.length === 0) return file;
  throw configError(problems, {
    service: "The deploy",
    source,
    next: `Nothing was started. ${nextStep(given === undefined ? [] : refusedNames(fields?.["environment"], given))}`,
  });
}

function nextStep(refused: readonly string[]): string {
  if (refused.length === 0) return "Correct the file and run it again.";
  const options = refused.map((name) => `--env ${name}`).join(" ");
  return `The server's service.yaml refers to variables of your environment. To allow all of them, call deploy run with:\n  ${options}`;
}

function readFields(text: string, problems: Problem[]): Fields | undefined {
  const document = parseDocument(text, { prettyErrors: false, customTags: withoutNumbers });
  const refuse = (at: number | undefined, problem: string): void => {
    problems.push({ path: `line ${text.slice(0, at).split("\n").length}`, problem });
  };
  for (const { pos } of document.errors) refuse(pos[0], "is not valid YAML, or repeats a key");
  visit(document, { Alias: (_, { range }) => refuse(range?.[0], "refers to an anchor: write the value itself") });
  if (problems.length > 0) return undefined;
  const value: unknown = document.toJS();
  if (isFields(value)) return value;
  problems.push({ path: "service.yaml", problem: "is empty or not a mapping of keys", example: FIELDS.name.example });
  return undefined;
}

function readFile(fields: Fields, given: Given | undefined, problems: Problem[]): ServiceFile {
  requireKnownKeys(fields, Object.keys(FIELDS), "", problems);
  const { name, mode, enable_db: enableDb = false } = fields;
  if (typeof name !== "string" || !isConnectorId(name)) problems.push(wrong("name", name));
  if (!isMode(mode)) problems.push(wrong("mode", mode));
  if (typeof enableDb !== "boolean") problems.push(wrong("enable_db", enableDb));
  else if (mode === "hosted" && !enableDb) {
    const problem = "is needed in hosted mode: the server keeps its users' tokens in the table";
    problems.push({ path: "enable_db", problem, example: FIELDS.enable_db.example });
  }
  const known = isMode(mode) ? mode : undefined;
  return {
    name: String(name),
    mode: known ?? "none",
    enableDb: enableDb === true,
    expose: readExpose(fields["service"], known, problems),
    environment: readVariables(fields["environment"], { mode: known, enableDb: enableDb === true, given }, problems),
  };
}

function readExpose(service: unknown, mode: ServiceFile["mode"] | undefined, problems: Problem[]): readonly string[] {
  if (service !== undefined && !isFields(service)) {
    problems.push({ path: "service", problem: "must hold `expose`", example: FIELDS.service.example });
    return [];
  }
  requireKnownKeys(service ?? {}, ["expose"], "service.", problems);
  const expose = service?.["expose"];
  if (expose === undefined && mode !== "hosted") return [];
  const paths: unknown = expose ?? [];
  if (!Array.isArray(paths) || paths.some((path) => typeof path !== "string")) {
    problems.push({ path: "service.expose", problem: "must be a list of paths", example: FIELDS.service.example });
    return [];
  }
  problems.push(...exposeProblems(paths as string[], mode));
  return paths as string[];
}

function requireKnownKeys(fields: Fields, known: readonly string[], prefix: string, problems: Problem[]): void {
  for (const key of Object.keys(fields)) {
    if (known.includes(key)) continue;
    const meant = nearest(key, known);
    const shown = /^[\w.-]{1,64}$/.test(key) ? key : "a key";
    const problem = `is not a key of service.yaml${meant === undefined ? "" : `: ${meant}?`}`;
    problems.push({ path: prefix + shown, problem, expected: known.join(", ") });
  }
}

const isMode = (value: unknown): value is ServiceFile["mode"] => MODES.some((mode) => mode === value);

function wrong(path: keyof typeof FIELDS, value: unknown): Problem {
  const { expected, example } = FIELDS[path];
  const problem = value === undefined || value === null ? "is missing" : "has an invalid value";
  return { path, problem, expected, example };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
