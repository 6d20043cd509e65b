/** The dependencies of the pages' routes. Bound once, in app.ts. */
import type { Agent } from "../agent/agent.ts";
import type { PendingCalls } from "../agent/pending-calls.ts";
import type { SettingsRules } from "../connectors/settings.ts";
import type { Bearers } from "../oauth/bearer.ts";
import type { ConnectDeps } from "../oauth/connect.ts";
import type { BrokerLeg } from "../pages/legs.ts";
import type { Sessions } from "../users/session.ts";

export type Timeline = (flowId: string) => Promise<readonly BrokerLeg[]>;

export interface PageDeps extends ConnectDeps {
  readonly sessions: Sessions;
  readonly agent: Agent;
  readonly pendingCalls: PendingCalls;
  readonly rules: SettingsRules;
  readonly bearers: Bearers;
  readonly timeline?: Timeline;
}
