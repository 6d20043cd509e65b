/** Calls a tool of a connector as this user: what the agent would do, by hand. */
import { html, type Markup } from "@oauth-broker/oauth-core/service";
import type { AgentTool, ToolResult } from "../agent/agent.ts";
import type { Connector } from "../connectors/connector.ts";
import type { SignedIn } from "../users/session.ts";
import { tabsOf } from "./connectors.ts";
import { alert, form, platformPage } from "./layout.ts";
import { inputField } from "./settings.ts";

export interface TryPage {
  readonly connector: Connector;
  readonly tools: readonly AgentTool[];
  /** The input as entered. */
  readonly input?: string;
  readonly called?: { readonly tool: string; readonly result: ToolResult };
  /** Why there are no tools, or no answer, as plain text. */
  readonly problem?: string;
}

export function tryPage(
  { connector: { id, name }, tools, input = "{}", called, problem }: TryPage,
  session: SignedIn,
): string {
  const options = tools.map(
    ({ name: tool }) =>
      html`<option value="${tool}"${tool === called?.tool ? " selected" : undefined}>${tool}</option>`,
  );
  const fields = html`<div class="field"><label for="tool">Tool</label><select id="tool" name="tool">${options}</select></div>
${inputField({ name: "input", label: "Input", hint: "A JSON object.", value: input })}
<button class="button" type="submit">Call the tool</button>`;
  const toConnection = html`<p><a href="/connectors/${id}">To the connection</a></p>`;
  return platformPage({
    title: `Try: ${name}`,
    session,
    tabs: tabsOf(id, "try", session),
    content: html`${problem === undefined ? undefined : alert(problem, toConnection)}
${called === undefined ? undefined : answer(called)}
${tools.length === 0 ? undefined : [form(`/connectors/${id}/try`, session.cookie, fields), aboutTools(tools)]}`,
  });
}

function aboutTools(tools: readonly AgentTool[]): Markup {
  const terms = tools.map(
    ({ name, description }) => html`<div><dt><code>${name}</code></dt><dd class="plain">${description}</dd></div>`,
  );
  return html`<details><summary>What the tools do</summary><dl>${terms}</dl></details>`;
}

function answer({ tool, result: { isError, text } }: NonNullable<TryPage["called"]>): Markup {
  return html`<h2>${isError ? "The tool failed" : "Answer"} of <code>${tool}</code></h2>
<pre role="status">${text}</pre>`;
}
