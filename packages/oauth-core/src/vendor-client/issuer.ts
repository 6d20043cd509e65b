/**
 * Vendors whose issuer has one name per tenant (`issuerTemplate`): what a tenant's name is, and which one counts where it was
 * named beforehand. Used where an issuer is compared: id-token.ts, receive-callback.ts; pinned when a flow's vendor is planned.
 */
import type { IssuerTemplate } from "../vendors/dialect.ts";
import type { Vendor } from "../vendors/vendor.ts";

export function isTenant(value: string, { pattern }: IssuerTemplate): boolean {
  return new RegExp(`^(?:${pattern})$`).test(value);
}

/** Whoever named a tenant wants nobody of another one, and the vendor's keys sign for all of them. */
//= oidc-core#3.1.3.7
export function isPinnedTenant(value: string, { pinned }: IssuerTemplate): boolean {
  return pinned === undefined || value.toLowerCase() === pinned.toLowerCase();
}

/**
 * @param values of the entry's placeholders
 * @returns the same object where none of them names a tenant
 */
export function pinTenant(vendor: Vendor, values: Readonly<Record<string, string>>): Vendor {
  const { issuerTemplate } = vendor;
  const pinned = issuerTemplate?.pinnedBy === undefined ? undefined : values[issuerTemplate.pinnedBy];
  if (issuerTemplate === undefined || pinned === undefined || !isTenant(pinned, issuerTemplate)) return vendor;
  return { ...vendor, issuerTemplate: { ...issuerTemplate, pinned } };
}
