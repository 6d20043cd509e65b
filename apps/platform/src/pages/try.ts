/**
 * Calls a tool of a connector as this user: what the agent would do, by hand. Shows what the server
 * asks before a call: its URLs are offered as links, and opened by the user's click alone.
 */
import { html, type Markup } from "@oauth-broker/service/page";
import type { AgentTool, ToolResult } from "../agent/agent.ts";
import type { LinkAnswer, LinkQuestion } from "../agent/link-question.ts";
import type { Connector } from "../connectors/connector.ts";
import type { SignedIn } from "../users/session.ts";
import { tabsOf } from "./connectors.ts";
import { inputField } from "./fields.ts";
import { alert, form, platformPage } from "./layout.ts";

export interface TryPage {
  readonly connector: Connector;
  readonly tools: readonly AgentTool[];
  /** The input as entered. */
  readonly input?: string;
  readonly called?: { readonly tool: string; readonly result: ToolResult };
  /** What the server asks instead of a result. */
  readonly asked?: {
    readonly tool: string;
    /** The call that waits for the answer. */
    readonly callId: string;
    readonly questions: readonly LinkQuestion[];
  };
  /** Why the list of tools, or the answer, is missing, as plain text. */
  readonly problem?: string;
}

export function tryPage(
  { connector, tools, input = "{}", called, asked, problem }: TryPage,
  session: SignedIn,
): string {
  const { id, name } = connector;
  const chosen = called?.tool ?? asked?.tool;
  const options = tools.map(
    ({ name: tool }) => html`<option value="${tool}"${tool === chosen ? " selected" : undefined}>${tool}</option>`,
  );
  const fields = html`<div class="field"><label for="tool">Tool</label><select id="tool" name="tool">${options}</select></div>
${inputField({ name: "input", label: "Input", hint: "A JSON object.", value: input })}
<button class="button" type="submit">Call the tool</button>`;
  const toConnection = html`<p><a href="/connectors/${id}">To the connection</a></p>`;
  return platformPage({
    title: `Try: ${name}`,
    session,
    tabs: tabsOf(connector, "try", session),
    content: html`${problem === undefined ? undefined : alert(problem, toConnection)}
${called === undefined ? undefined : answer(called)}
${asked === undefined ? undefined : questionsOf(asked, connector, session)}
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

function questionsOf(
  { tool, callId, questions }: NonNullable<TryPage["asked"]>,
  { id, name }: Connector,
  { cookie }: SignedIn,
): Markup {
  const isOffered = questions.length === 0 || questions.some(({ url }) => "href" in url);
  const fields = html`<input type="hidden" name="call" value="${callId}">
${isOffered ? answerButton("accept", "Try again") : undefined}
${answerButton("decline", "Decline", true)}
${answerButton("cancel", "Cancel", true)}`;
  return html`<section aria-labelledby="asked"><div role="status"><h2 id="asked"><code>${tool}</code> is waiting for you</h2></div>
${questions.length === 0 ? html`<p>The server needs more time. Try again.</p>` : html`<p>${name} asks you to open a page before the tool can run. Open it only if you know its host, do what it says, then try again here.</p>`}
${questions.map(question)}
${form(`/connectors/${id}/try/answer`, cookie, fields)}</section>`;
}

function answerButton(value: LinkAnswer, label: string, isPlain = false): Markup {
  return html`<button class="${isPlain ? "button plain" : "button"}" type="submit" name="answer" value="${value}">${label}</button>`;
}

//= mcp-2026-07-28/elicitation#safe-url-handling
function question({ about: subject, message, url }: LinkQuestion): Markup {
  const about = html`${subject === "" ? undefined : html`<div><dt>For</dt><dd>${subject}</dd></div>`}
<div><dt>The server says</dt><dd class="plain">${message}</dd></div>`;
  if ("refused" in url) {
    return html`<dl>${about}
<div><dt>Address</dt><dd class="problem">Not offered: it ${url.refused}</dd></div></dl>`;
  }
  const warning = html`<div><dt>Careful</dt><dd class="problem">The host is written in Punycode (xn--): it may look like another one</dd></div>`;
  return html`<dl>${about}
<div><dt>Host</dt><dd>${url.host}</dd></div>${url.isMarked ? warning : undefined}
<div><dt>Address</dt><dd class="plain"><a href="${url.href}" target="_blank" rel="noopener noreferrer"><code>${url.href}</code></a> (opens a new tab)</dd></div></dl>`;
}
