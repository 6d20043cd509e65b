/**
 * The first-class vendors in the sandbox: each a simulator with one app for the broker. What the
 * real ones ask of an organization first is done here: the preview is approved, and an
 * administrator has consented.
 */
import {
  credentialsOf,
  newApp,
  type SandboxVendor,
  type SandboxVendorOptions,
  type VendorOffer,
} from "./sandbox-app.ts";
import {
  startAtlassian,
  startGitHub,
  startGoogleWorkspace,
  startLinear,
  startMicrosoftAgent365,
  startNotion,
  startSlack,
  type SimulatedClient,
  type SimulatorOptions,
  type VendorSimulator,
} from "./vendors/index.ts";

interface Offered extends Omit<VendorOffer, "id"> {
  readonly vendor: Pick<VendorSimulator, "id" | "endpoints" | "addClient" | "close">;
  /** Further settings of the app. */
  readonly client?: object;
}

const GOOGLE = "https://www.googleapis.com/auth/";
const AGENT_365_TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";

/** By the vendor's id, in order of name. */
const OFFERS: Readonly<Record<string, (options: SimulatorOptions) => Promise<Offered>>> = {
  atlassian: async (options) => {
    const vendor = await startAtlassian(options);
    return {
      vendor,
      name: "Atlassian",
      about: "A token is for one server, which has to be named.",
      request: { scope: "read:me", resource: vendor.mcpServer },
    };
  },
  github: async (options) => ({
    vendor: await startGitHub(options),
    name: "GitHub",
    about: "Reports errors with status 200. One token can be revoked.",
    request: { scope: "read:user repo" },
    client: { expiringTokens: true },
  }),
  "google-workspace": async (options) => ({
    vendor: await startGoogleWorkspace(options),
    name: "Google Workspace",
    about: "In preview: an organization has to be approved first, and this one is. You may leave permissions out.",
    request: { scope: `openid email ${GOOGLE}gmail.readonly ${GOOGLE}drive.readonly` },
    placeholders: [
      {
        name: "service",
        label: "Service",
        value: "gmailmcp",
        choices: [
          { value: "gmailmcp", label: "Gmail" },
          { value: "drivemcp", label: "Drive" },
          { value: "calendarmcp", label: "Calendar" },
          { value: "chatmcp", label: "Chat" },
          { value: "people", label: "People" },
        ],
      },
    ],
  }),
  linear: async (options) => ({
    vendor: await startLinear({ ...options, hasIntrospection: true }),
    name: "Linear",
    about: "Clients can register themselves at its MCP server.",
    request: { scope: "read write" },
  }),
  "microsoft-agent365": async (options) => {
    const vendor = await startMicrosoftAgent365({ ...options, hasIntrospection: true });
    const { tenants } = vendor.settings;
    // By tenant, as in the registry's entry; the issuer of ID tokens has its own name for it.
    const { issuer = "" } = vendor.endpoints;
    const endpoints = { ...vendor.endpointsOf("{tenant}"), issuer, introspection_endpoint: `${vendor.url}/introspect` };
    return {
      vendor: { ...vendor, endpoints },
      name: "Microsoft Agent 365",
      about: "An administrator consents for everyone. Tokens cannot be revoked.",
      request: { scope: `openid profile ${AGENT_365_TOOLS}/.default`, prompt: "select_account" },
      placeholders: [
        {
          name: "tenant",
          label: "Tenant",
          value: "organizations",
          choices: [
            { value: "organizations", label: "The user's own (organizations)" },
            ...tenants.map(({ id, name, adminConsent }) => ({
              value: id,
              label: adminConsent ? name : `${name}: no administrator has consented`,
            })),
          ],
        },
        { name: "environment_id", label: "Environment id", value: tenants[0]?.environments.at(-1) ?? "" },
        { name: "server_name", label: "MCP server", value: "mcp_MailTools" },
      ],
    };
  },
  notion: async (options) => ({
    vendor: await startNotion(options),
    name: "Notion",
    about: "A refresh token works once.",
    request: { scope: "default" },
  }),
  slack: async (options) => ({
    vendor: await startSlack(options),
    name: "Slack",
    about: "Tokens are nested in its responses; commas separate its scopes.",
    request: { scope: "users:read search:read.public" },
    client: { tokenRotation: true },
  }),
};

/** What starts each, by the vendor's id and in order of name. */
export const SANDBOX_SIMULATORS: ReadonlyMap<string, (options: SandboxVendorOptions) => Promise<SandboxVendor>> =
  new Map(Object.entries(OFFERS).map(([id, offer]) => [id, (options) => start(offer, options)]));

async function start(
  offer: (options: SimulatorOptions) => Promise<Offered>,
  options: SandboxVendorOptions,
): Promise<SandboxVendor> {
  const { vendor, client, ...about } = await offer({ homeUrl: options.homeUrl });
  const app = newApp(options);
  vendor.addClient({ ...app, ...client } satisfies SimulatedClient);
  return {
    entry: { ...vendor.endpoints, ...credentialsOf(app) },
    offer: { id: vendor.id, ...about },
    close: vendor.close,
  };
}
