/** The variables that say where a vendor's endpoints are, and who its account says the user is. */

const URL_TYPE = "absolute https URL (http only where egress allows it)";

export const VENDOR_URL_VARIABLES = [
  {
    name: "VENDOR_ISSUER",
    type: URL_TYPE,
    description: "The vendor's issuer, byte for byte; endpoints that are not given are discovered from it.",
    example: "https://vendor.example",
  },
  {
    name: "VENDOR_AUTHORIZATION_URL",
    type: URL_TYPE,
    description: "Where users are sent.",
    example: "https://vendor.example/authorize",
  },
  {
    name: "VENDOR_TOKEN_URL",
    type: URL_TYPE,
    description: "Where codes are redeemed and tokens refreshed.",
    example: "https://vendor.example/token",
  },
  {
    name: "VENDOR_USERINFO_URL",
    type: URL_TYPE,
    description:
      "Identifies the user of a token. For a registry vendor with its own kind of account endpoint, that endpoint.",
    example: "https://vendor.example/userinfo",
  },
  {
    name: "VENDOR_ACCOUNT_URL",
    type: URL_TYPE,
    description:
      "The user's account, a JSON object, for a GET with the access token as Bearer. For a vendor that does not identify its users: neither ID tokens nor OpenID Connect's userinfo, and no source for the registry to say how. Needs VENDOR_IDENTITY.",
    example: "https://vendor.example/v1/me",
  },
  {
    name: "VENDOR_IDENTITY",
    type: "paths of members, separated by commas",
    description:
      "The members of the vendor's account that identify a user permanently and among all users of the vendor, joined if there are several: never an e-mail address or a login, which another user may have one day. Links are stored under it.",
    example: "team.id,user.id",
  },
  {
    name: "VENDOR_JWKS_URL",
    type: URL_TYPE,
    description: "The keys of its ID tokens.",
    example: "https://vendor.example/jwks",
  },
  {
    name: "VENDOR_INTROSPECTION_URL",
    type: URL_TYPE,
    description:
      "Validates a token, for a caller with the client secret. For a registry vendor with its own kind of token check, that check.",
    example: "https://vendor.example/introspect",
  },
  {
    name: "VENDOR_REVOCATION_URL",
    type: URL_TYPE,
    description: "Where tokens are revoked.",
    example: "https://vendor.example/revoke",
  },
] as const;
