/**
 * Tools and a prompt of the fixture that ask the client something and are called again with the
 * answers (SEP-2322). The client keeps the state in between, so it is signed: `requestState` of a
 * server's definition.
 */
import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, text } from "./fixture-content.ts";
import { says } from "./fixture-lists.ts";

const codec = createRequestStateCodec<{ readonly step: number }>({ key: randomBytes(32) });
export const requestState = { verify: codec.verify };

const elicit = (message: string, field: string, type: z.ZodString | z.ZodBoolean = z.string()) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: type }) });
const sample = (question: string) => inputRequired.createMessage({ messages: [says(text(question))], maxTokens: 100 });

const QUESTIONS = {
  user_name: elicit("What is your name?", "name"),
  user_context: elicit("What context should the prompt use?", "context"),
  confirm: elicit("Please confirm", "ok", z.boolean()),
  step1: elicit("Step 1: What is your name?", "name"),
  step2: elicit("Step 2: What is your favorite color?", "color"),
  capital_question: sample("What is the capital of France?"),
  greeting: sample("Generate a greeting"),
  client_roots: inputRequired.listRoots(),
};
type Question = keyof typeof QUESTIONS;

export function registerRounds(server: McpServer): void {
  const asks = (name: string, run: (context: ServerContext) => ReturnType<typeof ask>): void => {
    server.registerTool(name, { description: "Asks the client", inputSchema: z.object({}) }, async (_, context) =>
      run(context),
    );
  };
  const prefix = "test_input_required_result_";
  asks(`${prefix}elicitation`, (context) => ask(["user_name"], context));
  asks(`${prefix}sampling`, (context) => ask(["capital_question"], context));
  asks(`${prefix}list_roots`, (context) => ask(["client_roots"], context));
  asks(`${prefix}request_state`, (context) => ask(["confirm"], context, 1));
  asks(`${prefix}tampered_state`, (context) => ask(["confirm"], context, 1));
  asks(`${prefix}multiple_inputs`, (context) => ask(["user_name", "greeting", "client_roots"], context, 1));
  asks(`${prefix}multi_round`, (context) =>
    isAnswered("step1", context) || stepOf(context) === 2 ? ask(["step2"], context, 2) : ask(["step1"], context, 1),
  );
  asks(`${prefix}capabilities`, (context) => ask(answerable(["user_name", "greeting"], context), context));
  // The names of 2025-11-25. There a question cannot reach the client, and the SDK reports that.
  asks("test_sampling", (context) => ask(["capital_question"], context));
  for (const name of ["test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"]) {
    asks(name, (context) => ask(["user_name"], context));
  }
  // Without a check of the capability first: a client that declared no sampling must be refused.
  asks("test_missing_capability", (context) => ask(["greeting"], context));
  server.registerPrompt(`${prefix}prompt`, { description: "Asks the client" }, async (context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, "user_context", z.object({ context: z.string() }));
    return given === undefined ? question(["user_context"]) : { messages: [says(text(given.context))] };
  });
}

async function ask(keys: readonly Question[], context: ServerContext, step?: number) {
  if (keys.every((key) => isAnswered(key, context))) return answer("state-ok");
  return question(keys, step);
}

async function question(keys: readonly Question[], step?: number) {
  return inputRequired({
    inputRequests: Object.fromEntries(keys.map((key) => [key, QUESTIONS[key]])),
    ...(step === undefined ? {} : { requestState: await codec.mint({ step }) }),
  });
}

function isAnswered(key: Question, { mcpReq }: ServerContext): boolean {
  const given = inputResponse(mcpReq.inputResponses, key);
  return given.kind === "elicit" ? given.action === "accept" : given.kind !== "missing";
}

/** As `verify` has opened it. */
function stepOf({ mcpReq }: ServerContext): number | undefined {
  return mcpReq.requestState<{ readonly step: number }>()?.step;
}

function answerable(keys: readonly Question[], { mcpReq }: ServerContext): Question[] {
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined = mcpReq.envelope;
  const { elicitation, sampling } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  return keys.filter((key) => (key === "greeting" ? sampling : elicitation) !== undefined);
}
