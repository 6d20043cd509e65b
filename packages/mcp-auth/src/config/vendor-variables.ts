/** The variables that say which vendor it is and what we are there: a part of the table of variables.ts. */

const URL_TYPE = "absolute https URL on port 443 (other ports and http only where egress allows it)";

export const VENDOR_VARIABLES = [
  {
    name: "VENDOR",
    type: "id of a registry vendor, or one of your own: lower case letters, digits and -",
    description:
      "The vendor. One of your own comes with `VENDOR_ISSUER`, or with `VENDOR_AUTHORIZATION_URL` and `VENDOR_TOKEN_URL`.",
    example: "my-vendor",
  },
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
      "Says whose a token is. For a registry vendor with an account endpoint of its own kind, that endpoint.",
    example: "https://vendor.example/userinfo",
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
      "Says whether a token is good, to who has the client secret. For a registry vendor with a token check of its own kind, that check.",
    example: "https://vendor.example/introspect",
  },
  {
    name: "VENDOR_REVOCATION_URL",
    type: URL_TYPE,
    description: "Where tokens are revoked.",
    example: "https://vendor.example/revoke",
  },
  {
    name: "VENDOR_PKCE",
    type: "S256 or none",
    description: "What the vendor does with PKCE.",
    example: "S256",
    default: "as the registry says; S256 for a vendor of your own",
  },
  {
    name: "VENDOR_PLACEHOLDERS",
    type: "JSON object of strings",
    description: "Values for the {placeholders} in the vendor's URLs.",
    example: '{"tenant":"organizations"}',
  },
  {
    name: "VENDOR_CLIENT_ID",
    type: "text of at most 2048 characters",
    description:
      "What the vendor calls this deployment. Hosted mode needs it. In pre-registered mode only tokens that the vendor says are of this client are then taken; with a vendor that cannot say it the server does not start, or, where only metadata tells, warns, and every call fails.",
    example: "my-server-at-the-vendor",
  },
  {
    name: "VENDOR_CLIENT_SECRET",
    type: "secret of at most 2048 characters",
    description: "Its secret. Without one it is a public client.",
    example: "a value from your secret store",
  },
  {
    name: "VENDOR_SCOPES",
    type: "scopes separated by spaces",
    description:
      "What is asked of the vendor where a client names none, and the most a client may ask for: `scopes_supported`.",
    example: "openid profile",
    default: "the registry vendor's default scopes",
  },
  {
    name: "VENDOR_API_HOSTS",
    type: "host names without port, separated by commas; with a leading dot, every host below that domain",
    description:
      "Hosts that tools may send a user's vendor token to, besides the vendor's own. https only. Whoever runs such a host can act as the user.",
    example: "api.vendor.example,.vendor-apis.example",
  },
  {
    name: "ALLOW_VENDOR_WITHOUT_PKCE",
    type: "true or false",
    description:
      "Takes a vendor with neither PKCE nor ID tokens, although a stolen code of it can then be used by who stole it.",
    example: "true",
    default: "false",
    use: "hosted",
  },
] as const;
