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
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  isLoopbackName,
  MOST_IDLE_SECONDS,
  MOST_MAX_CONNECTIONS,
  type Parsed,
  patternOf,
  withoutNumbers,
} from "./values.ts";
