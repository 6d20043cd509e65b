/**
 * An entry of the registry with an operator's fields over it: which of the entry's own stay. Live
 * metadata and the hosts that the operator replaces decide that.
 */
import { defined } from "../mechanics/defined.ts";
import { registrableDomainOf } from "../protocol/public-suffix.ts";
import { addressOf, FIELDS, METADATA_FIELDS, OWN_KINDS, TOKEN_RECIPIENTS, type TokenRecipient } from "./fields.ts";
import { without } from "./moved-vendor.ts";
import type { FurtherEndpoint, Vendor } from "./vendor.ts";

const FURTHER_ENDPOINTS: readonly FurtherEndpoint[] = METADATA_FIELDS.filter(
  (name) => name !== "authorizationEndpoint" && name !== "tokenEndpoint",
);

/** An entry with an operator's fields over it. */
export interface OperatorsVendor {
  readonly vendor: Vendor;
  /** What the entry has at the replaced domain, and `vendor` therefore lacks, in part for `apiHosts`. */
  readonly dropped: readonly TokenRecipient[];
}

/**
 * An entry with an operator's fields over its own.
 *
 * The endpoints of an MCP server are compared with its live metadata, unless an operator names the
 * issuer or an endpoint of flows. Any other endpoint that an operator names is compared with nothing.
 *
 * If the entry has its own kind of an endpoint (its account, its check of tokens), the operator's
 * address for the standard kind moves that one, and the rest of it stays.
 *
 * An operator who names another token endpoint refreshes there. The entry's further endpoints then
 * stay only below the registrable domain of the new host: elsewhere they are the replaced host's,
 * which must not receive tokens of the new host (docs/decisions/0063). What the operator names is
 * used as it is.
 *
 * @param own what the operator names; no member is undefined
 */
export function withOperatorsFields(known: Vendor, own: Partial<Vendor>): OperatorsVendor {
  const fields = OWN_KINDS.reduce((given, kind) => atOwnKind(known, given, kind), own);
  const { vendor, dropped } = atTokenEndpoint(known, fields);
  return { vendor: { ...withoutReplacedMetadata(vendor, fields), ...fields }, dropped };
}

function atOwnKind(known: Vendor, given: Partial<Vendor>, kind: (typeof OWN_KINDS)[number]): Partial<Vendor> {
  const { [FIELDS[kind].insteadOf]: endpoint, ...others } = given;
  if (known[kind] === undefined || endpoint === undefined) return given;
  // The operator names the host, which a token answer then names no more.
  return { [kind]: defined({ ...known[kind], endpoint, host: undefined }), ...others };
}

function withoutReplacedMetadata(known: Vendor, own: Partial<Vendor>): Vendor {
  if (known.serverUrl === undefined) return known;
  const { serverUrl: _server, ...stored } = known;
  const { issuer, authorizationEndpoint, tokenEndpoint, refreshEndpoint } = own;
  if ((issuer ?? authorizationEndpoint ?? tokenEndpoint ?? refreshEndpoint) !== undefined) return stored;
  const operatorsEndpoints = FURTHER_ENDPOINTS.filter((name) => own[name] !== undefined);
  return { ...known, ...(operatorsEndpoints.length === 0 ? {} : { operatorsEndpoints }) };
}

//= bar#BY-4
function atTokenEndpoint(known: Vendor, { tokenEndpoint, ...own }: Partial<Vendor>): OperatorsVendor {
  if (tokenEndpoint === undefined || known.tokenEndpoint === undefined || tokenEndpoint === known.tokenEndpoint) {
    return { vendor: known, dropped: [] };
  }
  const domain = registrableDomainOf(tokenEndpoint);
  const recipients = TOKEN_RECIPIENTS.filter((name) => {
    const url = addressOf(known, name);
    //= bar#BY-4
    return url !== undefined && own[name] === undefined && registrableDomainOf(url) !== domain;
  });
  const apiHosts = known.apiHosts.filter(
    (host) => registrableDomainOf(`https://${host.replace(/^\./, "")}`) === domain,
  );
  return {
    vendor: { ...without(known, ["refreshEndpoint", ...recipients]), apiHosts },
    dropped: apiHosts.length < known.apiHosts.length ? [...recipients, "apiHosts"] : recipients,
  };
}
