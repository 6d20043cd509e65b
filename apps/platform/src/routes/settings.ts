/** The Settings tab: a form becomes one change of the connector, or no change. */
import { defined, Secret } from "@oauth-broker/oauth-core";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import { pageAnswer, redirectAnswer } from "@oauth-broker/oauth-core/http";
import { type Problem, withoutFileMarks } from "@oauth-broker/service/configuration";
import type { Route } from "@oauth-broker/service/http";
import { STYLE_HASH } from "@oauth-broker/service/page";
import type { ConnectorSettings, Registration, SettingsChange } from "../connectors/connector.ts";
import { changedSettings, changeProblems, TEXTS } from "../connectors/settings.ts";
import { settingsPage } from "../pages/settings.ts";
import type { PageDeps } from "./deps.ts";
import { connectorForm, requireAdministrator, requireConnector, userPage } from "./guard.ts";

export function settingsRoutes(deps: PageDeps): Route[] {
  const { connectors, rules, platformUrl } = deps;
  return [
    userPage("/connectors/:id/settings", deps, async (session, c) => {
      requireAdministrator(session);
      const connector = await requireConnector(c, deps);
      const isSaved = c.req.query("saved") !== undefined;
      const { settings } = connector;
      return pageAnswer(200, settingsPage({ connector, settings, platformUrl, isSaved }, session), STYLE_HASH);
    }),
    connectorForm("settings", deps, async ({ session, fields, connector }) => {
      requireAdministrator(session);
      const { change, problems: unreadable } = readChange(fields);
      const problems = [...unreadable, ...changeProblems(connector.settings, change, rules)];
      if (problems.length > 0) {
        const settings = changedSettings(connector.settings, change);
        const html = settingsPage({ connector, settings, platformUrl, problems }, session);
        return pageAnswer(400, html, STYLE_HASH);
      }
      await connectors.changeSettings(connector.id, change);
      return redirectAnswer(`/connectors/${connector.id}/settings?saved`);
    }),
  ];
}

/**
 * Every field of the page is sent, including empty ones: an emptied field deletes the stored value.
 */
function readChange(fields: Parameters): { readonly change: SettingsChange; readonly problems: readonly Problem[] } {
  const secret = fields.get("clientSecret");
  const placeholders = readPlaceholders(fields.get("placeholders") ?? "");
  const change: SettingsChange = {
    // The rules of the settings check that the values are known ones.
    authentication: (fields.get("authentication") ?? "") as ConnectorSettings["authentication"],
    registration: (fields.get("registration") ?? "") as Registration,
    ...Object.fromEntries(TEXTS.map((name) => [name, fields.get(name) ?? ""])),
    ...(secret === undefined ? {} : { clientSecret: new Secret(withoutFileMarks(secret)) }),
    ...(secret === undefined && fields.has("forgetSecret") ? { clientSecret: null } : {}),
    ...defined({ placeholders }),
  };
  const problem = { path: "placeholders", problem: "must be name=value, separated by commas, each name once" };
  return { change, problems: placeholders === undefined ? [problem] : [] };
}

function readPlaceholders(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text
    .split(",")
    .filter((pair) => pair.trim() !== "")
    .map((pair) => /^([^=]+)=(.*)$/s.exec(pair.trim()));
  const values = new Map(pairs.map((pair) => [(pair?.[1] ?? "").trim(), (pair?.[2] ?? "").trim()]));
  return pairs.includes(null) || values.size < pairs.length ? undefined : Object.fromEntries(values);
}
