/**
 * Validates a CloudFormation template against the schemas AWS publishes (`@aws-cdk/aws-service-spec`):
 * types of resources, their properties and attributes, references, conditions, and the metrics of
 * AWS services that alarms watch. It knows the functions our templates use, and refuses any other.
 */
import { loadAwsServiceSpecSync } from "@aws-cdk/aws-service-spec";
import type { PropertyType, Resource, ResourceProperties, SpecDatabase } from "@aws-cdk/service-spec-types";
import type { Json } from "../alarms.ts";

export interface Schemas {
  /** @returns one sentence for each mistake */
  problemsOf(template: Json): string[];
}

const RESOURCE_MEMBERS = new Set([
  "Type",
  "Properties",
  "Condition",
  "DependsOn",
  "DeletionPolicy",
  "UpdateReplacePolicy",
]);
const PSEUDO = new Set(["AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::URLSuffix", "AWS::NoValue"]);
const FUNCTIONS = new Set(["Ref", "Fn::GetAtt", "Fn::Sub", "Fn::If", "Fn::Not", "Fn::Equals", "Fn::Join"]);

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The name and argument of a function of CloudFormation. */
const functionOf = (value: unknown): readonly [string, unknown] | undefined => {
  const [entry, ...more] = isObject(value) ? Object.entries(value) : [];
  return entry !== undefined && more.length === 0 && /^(Ref|Fn::\w+)$/.test(entry[0]) ? entry : undefined;
};

export function openSchemas(): Schemas {
  const db = loadAwsServiceSpecSync();
  return { problemsOf: (template) => problemsOf(template, db) };
}

function problemsOf(template: Json, db: SpecDatabase): string[] {
  const problems: string[] = [];
  const section = (name: string): Json => (isObject(template[name]) ? template[name] : {});
  const resources = Object.entries(section("Resources")) as [string, Json][];
  const specs = new Map<string, Resource>();
  for (const [name, { Type }] of resources) {
    const [spec] = db.lookup("resource", "cloudFormationType", "equals", String(Type));
    if (spec === undefined) problems.push(`${name}: there is no type ${String(Type)}`);
    else specs.set(name, spec);
  }

  const requireReference = (name: string, where: string): void => {
    if (!PSEUDO.has(name) && !Object.hasOwn(section("Parameters"), name) && !Object.hasOwn(section("Resources"), name))
      problems.push(`${where}: nothing is called ${name}`);
  };
  const requireAttribute = (resource: string, name: string, where: string): void => {
    if (specs.get(resource)?.attributes[name] === undefined) problems.push(`${where}: there is no ${resource}.${name}`);
  };
  const requireCondition = (name: unknown, where: string): void => {
    if (!Object.hasOwn(section("Conditions"), String(name))) problems.push(`${where}: no condition ${String(name)}`);
  };
  /** Every function anywhere below. */
  const walk = (value: unknown, where: string): void => {
    if (Array.isArray(value)) value.forEach((item, index) => walk(item, `${where}[${index}]`));
    if (!isObject(value)) return;
    const [name, argument] = functionOf(value) ?? [];
    if (name !== undefined && !FUNCTIONS.has(name)) problems.push(`${where}: ${name} is not known here`);
    if (name === "Ref") requireReference(String(argument), where);
    if (name === "Fn::GetAtt" && Array.isArray(argument))
      requireAttribute(String(argument[0]), String(argument[1]), where);
    if (name === "Fn::If" && Array.isArray(argument)) requireCondition(argument[0], where);
    if (name === "Fn::Sub") {
      for (const [, placeholder = ""] of String(argument).matchAll(/\$\{([^}]*)\}/g)) {
        const [resource = "", attribute] = placeholder.split(".");
        if (attribute === undefined) requireReference(placeholder, where);
        else requireAttribute(resource, attribute, where);
      }
    }
    for (const [member, inner] of Object.entries(value)) walk(inner, `${where}.${member}`);
  };

  const checkMembers = (value: Json, known: ResourceProperties, where: string): void => {
    for (const [name, inner] of Object.entries(value)) {
      const property = known[name];
      if (property === undefined) problems.push(`${where}: ${name} is no property`);
      else if (!fits(inner, property.type, `${where}.${name}`)) {
        problems.push(`${where}.${name}: ${JSON.stringify(inner)} is no ${property.type.type}`);
      }
    }
    for (const [name, { required }] of Object.entries(known)) {
      if (required === true && value[name] === undefined) problems.push(`${where}: ${name} is missing`);
    }
  };
  /** What is wrong below is reported there. */
  const fits = (value: unknown, type: PropertyType, where: string): boolean => {
    const [name, argument] = functionOf(value) ?? [];
    if (name === "Fn::If" && Array.isArray(argument)) return argument.slice(1).every((one) => fits(one, type, where));
    if (name === "Ref" && argument === "AWS::NoValue") return true;
    if (name !== undefined)
      return type.type === "string" || (type.type === "union" && type.types.some((one) => fits(value, one, where)));
    switch (type.type) {
      case "string":
        return typeof value === "string" && (type.allowedValues?.includes(value) ?? true);
      case "boolean":
        return typeof value === "boolean";
      case "integer":
        return Number.isInteger(value);
      case "number":
        return typeof value === "number";
      case "json":
        return isObject(value) || Array.isArray(value);
      case "array":
        return Array.isArray(value) && value.every((item, index) => fits(item, type.element, `${where}[${index}]`));
      case "map":
        return isObject(value) && Object.values(value).every((item) => fits(item, type.element, where));
      case "ref": {
        if (!isObject(value)) return false;
        checkMembers(value, db.get("typeDefinition", type.reference.$ref).properties, where);
        return true;
      }
      case "union":
        return type.types.some((one) => fits(value, one, where));
      case "date-time":
      case "null":
      case "tag":
        return false;
    }
  };

  for (const [name, resource] of resources) {
    for (const member of Object.keys(resource)) {
      if (!RESOURCE_MEMBERS.has(member)) problems.push(`${name}: ${member} is no attribute of a resource`);
    }
    if (resource["Condition"] !== undefined) requireCondition(resource["Condition"], name);
    const properties = isObject(resource["Properties"]) ? resource["Properties"] : {};
    const spec = specs.get(name);
    if (spec !== undefined) checkMembers(properties, spec.properties, name);
    if (spec?.cloudFormationType === "AWS::CloudWatch::Alarm") {
      for (const metric of metricsOf(properties))
        problems.push(...metricProblems(metric, db).map((problem) => `${name}: ${problem}`));
    }
  }
  walk(template, "template");
  return problems;
}

interface Metric {
  readonly Namespace?: unknown;
  readonly MetricName?: unknown;
  readonly Dimensions?: readonly { readonly Name: string }[];
}

function metricsOf(alarm: Json): readonly Metric[] {
  const queries = (alarm["Metrics"] ?? []) as readonly { readonly MetricStat?: { readonly Metric: Metric } }[];
  const inMath = queries.flatMap(({ MetricStat: stat }) => (stat === undefined ? [] : [stat.Metric]));
  return alarm["MetricName"] === undefined ? inMath : [alarm, ...inMath];
}

/** A namespace that is a parameter is that of our own counters. */
function metricProblems({ Namespace, MetricName, Dimensions = [] }: Metric, db: SpecDatabase): string[] {
  if (typeof Namespace !== "string") return [];
  const found = [...db.all("metric")].filter(({ namespace, name }) => namespace === Namespace && name === MetricName);
  if (found.length === 0) return [`there is no metric ${Namespace} ${String(MetricName)}`];
  const given = Dimensions.map(({ Name }) => Name)
    .toSorted()
    .join(", ");
  const sets = found.flatMap((metric) =>
    [...db.follow("usesDimensionSet", metric)].map(({ entity }) =>
      entity.dimensions
        .map(({ name }) => name)
        .toSorted()
        .join(", "),
    ),
  );
  return sets.includes(given) ? [] : [`${String(MetricName)} has no dimensions ${given}`];
}
