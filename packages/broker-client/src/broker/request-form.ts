/** Translates a request to the broker's parameters. */
import type { GrantTarget, StartRequest, VendorTarget } from "../types.ts";

export type Form = Readonly<Record<string, string>>;

export function startForm(request: StartRequest): Form {
  const { scope, loginHint, prompt, resource, vendorParams } = request;
  return {
    ...targetForm(request),
    ...present({
      scope,
      login_hint: loginHint,
      prompt,
      resource,
      vendor_params: vendorParams && JSON.stringify(vendorParams),
    }),
  };
}

/** `vendor` is sent beside a connection: the broker refuses it when the two differ. */
export function grantForm(target: GrantTarget): Form {
  return { ...targetForm(target), ...present({ connection: target.connection }) };
}

function targetForm({ vendor, byoc, issuer, endpoints, placeholders }: VendorTarget): Form {
  return present({
    vendor,
    issuer,
    vendor_client_id: byoc?.clientId,
    vendor_client_secret: byoc?.clientSecret,
    authorization_endpoint: endpoints?.authorizationEndpoint,
    token_endpoint: endpoints?.tokenEndpoint,
    placeholders: placeholders && JSON.stringify(placeholders),
  });
}

/** Leaves out what is absent; a database says so by null. */
export function present(members: Readonly<Record<string, string | null | undefined>>): Form {
  const given = Object.entries(members).filter(
    (entry): entry is [string, string] => (entry[1] ?? undefined) !== undefined,
  );
  return Object.fromEntries(given);
}
