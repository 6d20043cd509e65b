/** A tool of a connector, called as this user: what the agent would do, by hand. */
import { escapeHtml } from "@oauth-broker/oauth-core/service";
import type { AgentTool, ToolResult } from "../agent/agent.ts";
import type { Connector } from "../connectors/connector.ts";
import type { SignedIn } from "../users/session.ts";
import { tabsOf } from "./connectors.ts";
import { alert, form, platformPage } from "./layout.ts";
import { inputField } from "./settings.ts";

export interface TryPage {
  readonly connector: Connector;
  readonly tools: readonly AgentTool[];
  /** As entered. */
  readonly input?: string;
  readonly called?: { readonly tool: string; readonly result: ToolResult };
  /** Why there are no tools, or no answer; plain. */
  readonly problem?: string;
}

export function tryPage(
  { connector: { id, name }, tools, input = "{}", called, problem }: TryPage,
  session: SignedIn,
): string {
  const options = tools.map(
    ({ name: tool }) =>
      `<option value="${escapeHtml(tool)}"${tool === called?.tool ? " selected" : ""}>${escapeHtml(tool)}</option>`,
  );
  const fields = `<div class="field"><label for="tool">Tool</label><select id="tool" name="tool">${options.join("")}</select></div>
${inputField({ name: "input", label: "Input", hint: "A JSON object.", value: input })}
<button class="button" type="submit">Call the tool</button>`;
  return platformPage({
    title: `Try: ${name}`,
    session,
    tabs: tabsOf(id, "try", session),
    content: [
      problem === undefined ? "" : alert(problem, `<p><a href="/connectors/${id}">To the connection</a></p>`),
      called === undefined ? "" : answer(called),
      tools.length === 0 ? "" : form(`/connectors/${id}/try`, session.cookie, fields) + aboutTools(tools),
    ].join("\n"),
  });
}

function aboutTools(tools: readonly AgentTool[]): string {
  const terms = tools.map(
    ({ name, description }) =>
      `<div><dt><code>${escapeHtml(name)}</code></dt><dd class="plain">${escapeHtml(description)}</dd></div>`,
  );
  return `<details><summary>What the tools do</summary><dl>${terms.join("")}</dl></details>`;
}

function answer({ tool, result: { isError, text } }: NonNullable<TryPage["called"]>): string {
  return `<h2>${isError ? "The tool says it failed" : "Answer"} of <code>${escapeHtml(tool)}</code></h2>
<pre role="status">${escapeHtml(text)}</pre>`;
}
