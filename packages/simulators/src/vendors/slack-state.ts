/** The state that the parts of the Slack simulator share: its apps, its workspaces, its codes. */
import type { createCodes } from "./base/codes.ts";
import type { VendorUser } from "./base/consent.ts";
import type { VendorHost } from "./base/host.ts";
import type { SimulatedClient } from "./base/simulator.ts";

export interface SlackClient extends SimulatedClient {
  /** Access tokens live 12 hours and come with refresh tokens. Default false. */
  readonly tokenRotation?: boolean;
}

export type SlackPair = "user" | "bot";

export interface SlackTeam {
  readonly id: string;
  readonly name: string;
}

export interface SlackAuthorization {
  readonly pair: SlackPair;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the request had one; the token request must then repeat it. */
  readonly sentRedirect: boolean;
  readonly botScopes: readonly string[];
  readonly userScopes: readonly string[];
  readonly user: VendorUser;
  readonly team: SlackTeam;
  readonly challenge: string | undefined;
}

export interface SlackSet {
  readonly kind: SlackPair;
  readonly team: SlackTeam;
  /** Granted, and then taken away. */
  readonly lost: Set<string>;
}

/** The state that the parts of this simulator share. */
export interface SlackState extends VendorHost<SlackClient> {
  readonly codes: ReturnType<typeof createCodes<SlackAuthorization>>;
  /** By grant: the tokens of a bot or a user, and the workspace. */
  readonly sets: Map<string, SlackSet>;
}

export const SLACK_TEAMS: readonly [SlackTeam, ...SlackTeam[]] = [
  { id: "T0SAMPLE1", name: "Sample workspace" },
  { id: "T0SAMPLE2", name: "Second workspace" },
];
