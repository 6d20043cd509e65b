/**
 * The configuration of our services and commands: how it is read, checked and refused. No web
 * framework.
 */
export {
  type Check,
  createEnvironmentReader,
  type Environment,
  type EnvironmentReader,
  ignoredProxyWarnings,
  splitList,
  startFolder,
  valueOf,
  variableMeant,
} from "./environment.ts";
export { type ConfigError, configError, isConfigError, type Problem, problemOfThrown } from "./error.ts";
export { readSecret, withoutFileMarks } from "./secret-text.ts";
export { readTextFile } from "./text-file.ts";
export {
  readTracing,
  shapeOfTracing,
  TRACING_VARIABLES,
  type TracingSettings,
  type TracingVariable,
} from "./tracing.ts";
export {
  checkAllowedOrigin,
  checkCidr,
  checkClientId,
  checkListenHost,
  checkName,
  checkOrigin,
  checkVendorId,
  CONNECTIONS,
  IDLE_SECONDS,
  isLoopbackName,
  type Parsed,
  patternOf,
  withoutNumbers,
} from "./values.ts";
