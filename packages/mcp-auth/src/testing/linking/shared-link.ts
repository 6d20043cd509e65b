/**
 * One user at a vendor that grants what a test says, the sessions of that user, and tools that
 * return the vendor token they got.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import { type Closing, closing } from "../closing.ts";
import { type FixtureOptions, linkOf } from "../hosted-fixture.ts";
import { openStubServerFixture, type StubServerFixture } from "../server-fixture.ts";
import { openMcpOver } from "./mcp-over.ts";
import { legacyCall, rawRequest } from "./raw-calls.ts";
import { testTool } from "../test-tool.ts";

export interface SharedLink extends StubServerFixture {
  /**
   * Signs in again.
   *
   * @param granted as the vendor reports it; undefined: it reports nothing.
   * @param end of tokens that cannot be refreshed
   */
  signIn(asked: string, granted?: string, end?: { readonly lifetimeSeconds?: number }): Promise<SignedIn>;
  /** @returns the vendor token the tool had, or the response's status and challenge */
  callTool(name: string, accessToken: string): Promise<string>;
  /** The link's vendor token. */
  linked(): ReturnType<typeof linkOf>;
  /** Vendor tokens that were revoked. */
  readonly revoked: string[];
}

export interface SignedIn {
  readonly access: string;
  readonly refresh: string;
  /** The vendor token of this sign-in, whether the link has it or not. */
  readonly vendorToken: string;
}

const tool = (name: string, scopes?: readonly string[]) =>
  testTool(name, { ...defined({ scopes }), run: async (_, { vendor }) => vendor.accessToken() });

/** Named after their scopes. */
const TOOLS = [tool("unsaid"), tool("none", []), tool("read", ["read"]), tool("write", ["write"])];

export async function openSharedLink(options: Partial<FixtureOptions> = {}): Promise<SharedLink> {
  let next: VendorTokens | undefined;
  let count = 0;
  const revoked: string[] = [];
  const fixture = await openStubServerFixture({
    ...options,
    vendorClient: (real) => ({
      ...real,
      identify: async () => "user",
      redeemCode: async () => next as VendorTokens,
      revokeGrant: async (_vendor, _credentials, { accessToken, refreshToken }) => {
        revoked.push(refreshToken ?? accessToken);
        return "token";
      },
    }),
  });
  const mcp = await openMcpOver(fixture, TOOLS, async () => new Response());
  const opened: Omit<SharedLink, keyof Closing> = {
    ...fixture,
    revoked,
    signIn: async (asked, granted, end) => {
      count += 1;
      const vendorToken = `vendor-token-${count}`;
      next = {
        accessToken: vendorToken,
        tokenType: "Bearer",
        vendorData: {},
        ...(granted === undefined ? {} : { scope: granted.split(" ") }),
        ...(end === undefined ? { refreshToken: `vendor-refresh-${count}` } : {}),
        ...(end?.lifetimeSeconds === undefined ? {} : { expiresInSeconds: end.lifetimeSeconds }),
      };
      const { body } = await fixture.connect({ scope: asked });
      return { access: body["access_token"] ?? "", refresh: body["refresh_token"] ?? "", vendorToken };
    },
    callTool: async (name, accessToken) => {
      const answer = await fetch(mcp.url, rawRequest(accessToken, ...legacyCall(name)));
      const text = await answer.text();
      const token = /vendor-token-\d+/.exec(text)?.[0];
      return token ?? `${answer.status} ${answer.headers.get("www-authenticate") ?? text}`;
    },
    linked: () => linkOf(fixture),
  };
  return closing(opened, async () => {
    await mcp.close();
    await fixture.close();
  });
}
