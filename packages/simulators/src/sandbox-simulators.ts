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
  type AtlassianClient,
  type GitHubClient,
  type SimulatedClient,
  type SlackClient,
  type VendorSimulator,
} from "./vendors/index.ts";

type Offered = Omit<VendorOffer, "id">;

const GOOGLE = "https://www.googleapis.com/auth/";
const AGENT_365_TOOLS = "ea9ffc3e-8a23-4a7d-836d-234d7c7565c1";

/** By the vendor's id, in order of name. */
const STARTERS: Readonly<Record<string, (options: SandboxVendorOptions) => Promise<SandboxVendor>>> = {
  atlassian: startSandboxAtlassian,
  github: startSandboxGitHub,
  "google-workspace": startSandboxGoogle,
  linear: startSandboxLinear,
  "microsoft-agent365": startSandboxMicrosoft,
  notion: startSandboxNotion,
  slack: startSandboxSlack,
};

/** @returns by name */
export function startSandboxSimulators(options: SandboxVendorOptions): readonly Promise<SandboxVendor>[] {
  return Object.values(STARTERS).map((start) => start(options));
}

/** @returns undefined if this vendor has no simulator */
export async function startSandboxSimulator(
  id: string,
  options: SandboxVendorOptions,
): Promise<SandboxVendor | undefined> {
  return Object.hasOwn(STARTERS, id) ? STARTERS[id]?.(options) : undefined;
}

async function startSandboxAtlassian(options: SandboxVendorOptions): Promise<SandboxVendor> {
  const vendor = await startAtlassian({ homeUrl: options.homeUrl });
  return offered<AtlassianClient>(
    vendor,
    {
      name: "Atlassian",
      about: "A token is for one server, which has to be named.",
      request: { scope: "read:me", resource: vendor.mcpServer },
    },
    { ...options, client: { kind: "mcp" } },
  );
}

async function startSandboxGitHub(options: SandboxVendorOptions): Promise<SandboxVendor> {
  return offered<GitHubClient>(
    await startGitHub({ homeUrl: options.homeUrl }),
    {
      name: "GitHub",
      about: "Reports errors with status 200. One token can be revoked.",
      request: { scope: "read:user repo" },
    },
    { ...options, client: { expiringTokens: true } },
  );
}

async function startSandboxGoogle(options: SandboxVendorOptions): Promise<SandboxVendor> {
  const services = { gmailmcp: "Gmail", drivemcp: "Drive", calendarmcp: "Calendar", chatmcp: "Chat", people: "People" };
  return offered(
    await startGoogleWorkspace({ homeUrl: options.homeUrl }),
    {
      name: "Google Workspace",
      about: "In preview: an organization has to be approved first, and this one is. You may leave permissions out.",
      request: { scope: `openid email ${GOOGLE}gmail.readonly ${GOOGLE}drive.readonly` },
      placeholders: [
        {
          name: "service",
          label: "Service",
          value: "gmailmcp",
          choices: Object.entries(services).map(([value, label]) => ({ value, label })),
        },
      ],
    },
    options,
  );
}

async function startSandboxLinear(options: SandboxVendorOptions): Promise<SandboxVendor> {
  const vendor = await startLinear({ homeUrl: options.homeUrl, hasIntrospection: true });
  const { origin } = new URL(vendor.endpoints["token_endpoint"] ?? vendor.endpoints["issuer"] ?? "");
  return offered(
    { ...vendor, endpoints: { ...vendor.endpoints, introspection_endpoint: `${origin}/introspect` } },
    {
      name: "Linear",
      about: "Clients can register themselves at its MCP server.",
      request: { scope: "read write" },
    },
    options,
  );
}

async function startSandboxMicrosoft(options: SandboxVendorOptions): Promise<SandboxVendor> {
  const vendor = await startMicrosoftAgent365({ homeUrl: options.homeUrl, hasIntrospection: true });
  const { origin } = new URL(vendor.endpointsOf("organizations")["token_endpoint"] ?? "");
  const { tenants } = vendor.settings;
  return offered(
    {
      ...vendor,
      // By tenant, as in the registry's entry; the issuer of ID tokens has its own name for
      // it.
      endpoints: {
        ...vendor.endpointsOf("{tenant}"),
        issuer: vendor.endpoints["issuer"] ?? "",
        introspection_endpoint: `${origin}/introspect`,
      },
    },
    {
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
    },
    options,
  );
}

async function startSandboxNotion(options: SandboxVendorOptions): Promise<SandboxVendor> {
  return offered(
    await startNotion({ homeUrl: options.homeUrl }),
    {
      name: "Notion",
      about: "A refresh token works once.",
      request: { scope: "default" },
    },
    options,
  );
}

async function startSandboxSlack(options: SandboxVendorOptions): Promise<SandboxVendor> {
  return offered<SlackClient>(
    await startSlack({ homeUrl: options.homeUrl }),
    {
      name: "Slack",
      about: "Tokens are nested in its responses; commas separate its scopes.",
      request: { scope: "users:read search:read.public" },
    },
    { ...options, client: { tokenRotation: true } },
  );
}

function offered<Client extends SimulatedClient>(
  vendor: Pick<VendorSimulator<Client>, "id" | "endpoints" | "addClient" | "close">,
  about: Offered,
  { client, ...options }: SandboxVendorOptions & { readonly client?: Omit<Client, keyof SimulatedClient> },
): SandboxVendor {
  const app = newApp(options);
  vendor.addClient({ ...app, ...client } as Client);
  return {
    entry: { ...vendor.endpoints, ...credentialsOf(app) },
    offer: { id: vendor.id, ...about },
    close: vendor.close,
  };
}
