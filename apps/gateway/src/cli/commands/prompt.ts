import { GatewayError } from "@signalbox/home";
import { findPrompt, MAX_PROMPT_MESSAGES, type PromptNote } from "../../api/admin/agent-prompt.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { getAgent } from "../home-agents.ts";
import { latestMessages } from "../home-messages.ts";
import { print } from "../output.ts";
import { aligned, time } from "../table.ts";
import { readMessageTrace } from "./why.ts";

/** `signalbox prompt <agent>`: prints the sections of the agent's latest prompt with their tokens and cost. */
export async function prompt(
  agent: string,
  options: CommonOptions & { readonly session?: string },
): Promise<void> {
  const messages = await latestMessages(options, { ...options, limit: MAX_PROMPT_MESSAGES });
  const found = await findPrompt(agent, messages, (id) => readMessageTrace(id, options));
  if (found !== undefined) {
    const { id, at, sessionKey } = found.message;
    const told = { message: id, at, session: sessionKey, ...found.prompt };
    print(options.json, told, () => [
      `${agent}, ${sessionKey}, ${time(at)}: ${found.prompt.model}, digest ${found.prompt.digest}`,
      "",
      ...formatTable(found.prompt),
    ]);
    return;
  }
  getAgent(configuredHome(options), agent);
  throw new GatewayError(
    "failure",
    `None of the latest ${MAX_PROMPT_MESSAGES} messages was answered by the agent ${agent}. Send it one with \`signalbox send hello --agent ${agent}\`.`,
  );
}

function formatTable({ sections, prices }: PromptNote): string[] {
  const cost = (tokens: number, price: number | undefined): string =>
    price === undefined ? "" : ((tokens * price) / 1e12).toFixed(6);
  const all = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const stable = sections
    .filter(({ part }) => part === "stable")
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const rows = sections.map(({ name, part, chars, tokens }) => [
    name,
    part,
    String(chars),
    String(tokens),
    cost(tokens, prices?.input),
    part === "stable" ? cost(tokens, prices?.cacheRead) : cost(tokens, prices?.input),
  ]);
  const fromCache =
    prices === undefined ? "" : cost(1, stable * prices.cacheRead + (all - stable) * prices.input);
  return [
    ...aligned([
      ["SECTION", "PART", "CHARACTERS", "TOKENS", "COST (USD)", "FROM A CACHE"],
      ...rows,
      ["total", "", "", String(all), cost(all, prices?.input), fromCache],
    ]),
    "Tokens are estimates. The message's own context and the history are not included.",
  ];
}
