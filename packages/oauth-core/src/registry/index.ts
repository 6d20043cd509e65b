/** The vendors we know, one file each, and what an entry of an operator's own must be. */
export {
  capabilitiesOf,
  type EndpointVerification,
  type FactCheck,
  type RegistryEntry,
  type VendorCapabilities,
  type VendorSetup,
  type Verification,
} from "./entry/registry-entry.ts";
/** For what is made of an entry, once. */
export { oncePerObject } from "../mechanics/expiring-map.ts";
export { REGISTRY } from "./registry.ts";
export type { ScopeRefusal } from "./account.ts";
export { type ClientsOf, tenantPlaceholders, usualClientsOf } from "./entry/clients-of.ts";
export {
  addressOf,
  type FieldBy,
  fieldOf,
  FIELDS,
  type FieldVariable,
  type FieldWhere,
  type MetadataField,
  ownKindOf,
  TOKEN_ENDPOINT_FIELDS,
  type TokenRecipient,
  URL_VARIABLE_FIELDS,
  type UrlVariableField,
} from "./fields.ts";
export { checkMemberPath, OWN_TOKEN_HEADERS } from "./fields/checks.ts";
export {
  type Described,
  type Field,
  type ListShape,
  type MapShape,
  type ObjectShape,
  type Shape,
  type WireName,
  wireName,
} from "./fields/shape.ts";
export { withoutIssuer, withoutTokenRecipients } from "./moved-vendor.ts";
export { type OperatorsVendor, withOperatorsFields } from "./operators-vendor.ts";
export { searchVendors } from "./search.ts";
export { hasEnded, type Sunset, urlsThatEnd } from "./entry/sunset.ts";
export {
  DEFAULT_ID_TOKEN_ALGS,
  defineVendor,
  type PkceMethod,
  RESPONSE_MODES,
  type ResolvedVendor,
  type TokenEndpointAuthMethod,
  type Vendor,
  type VendorCredentials,
  type VendorDemand,
  type VendorTokens,
  withSecret,
} from "./vendor.ts";
