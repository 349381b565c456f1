import { createInterface } from "node:readline/promises";
import { text as readAll } from "node:stream/consumers";
import { type Client, defaultAgent, type ServerFrame } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import { visible } from "@signalbox/telemetry";
import { createApprovalPrompts } from "../chat/approvals.ts";
import { createScreen } from "../chat/screen.ts";
import { Turns } from "../chat/turns.ts";
import type { CommonOptions } from "../common-options.ts";
import { runningGateway } from "../running.ts";

/** Poll interval for tool calls that are waiting for approval, in milliseconds. */
const ASK_MS = 500;

interface TalkOptions extends CommonOptions {
  readonly agent?: string;
  readonly conversation: string;
}

/**
 * `signalbox send`: sends all words as one message, and prints the reply to standard output. `-` stands for the text on
 * standard input.
 */
export async function send(words: readonly string[], options: TalkOptions): Promise<void> {
  const text = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ");
  if (text.trim() === "")
    throw new GatewayError(
      "usage",
      'The message is empty. Write one, such as `signalbox send "list the files"`.',
    );
  const { client } = await runningGateway(options.home);
  const agent = await findAgentId(client, options.agent);
  const frames: ServerFrame[] = [];
  for await (const frame of client.chat(agent, options.conversation, text)) frames.push(frame);
  const reply = frames.flatMap((frame) =>
    frame.type === "message" && frame.message.role === "assistant" ? [frame.message.text] : [],
  );
  const end = frames.findLast((frame) => frame.type === "run.end");
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ agent, reply, outcome: end?.outcome, usage: end?.usage })}\n`);
  else process.stdout.write(`${visible(reply.join("\n\n"))}\n`);
  if (end?.outcome === "failed") {
    const error = frames.findLast((frame) => frame.type === "error");
    throw new GatewayError("failure", error?.message ?? "The agent could not answer.");
  }
}

/**
 * `signalbox chat`: runs a conversation in the terminal until the end of input. A line typed during a run steers it.
 */
export async function chat(options: TalkOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const agent = await findAgentId(client, options.agent);
  const json = options.json === true;
  const isTerminal = process.stdin.isTTY === true && !json;
  const isColored = isTerminal && process.stdout.isTTY === true && !process.env["NO_COLOR"];
  const write = (text: string): void => void process.stdout.write(text);
  const lines = createInterface({
    input: process.stdin,
    output: json ? undefined : process.stdout,
    prompt: `${agent}> `,
  });
  let open = true;
  lines.on("close", () => {
    open = false;
  });
  const prompt = (): void => {
    if (open && !json) lines.prompt();
  };
  const turns = new Turns({
    say: (line, signal) => client.chat(agent, options.conversation, line, { signal }),
    screen: () => (json ? printFrame : createScreen(write, isColored)),
    onIdle() {
      if (!json) write("\n");
      prompt();
    },
  });
  const desk = createApprovalPrompts(client, { agent, conversation: options.conversation }, write);
  // Approval requests are only shown at a terminal. In a script, the next line could be mistaken for the answer.
  const asking = isTerminal
    ? setInterval(() => turns.areOver || desk.look().catch(() => {}), ASK_MS)
    : undefined;
  lines.on("SIGINT", () => {
    if (turns.areOver) lines.close();
    else if (!json) write("\n(stopped)\n");
    turns.abort();
  });
  if (!json) write(`Talking to ${agent}. /help lists commands. Ctrl+C stops a reply, Ctrl+D quits.\n`);
  prompt();
  const underWay: Promise<void>[] = [];
  for await (const line of lines) {
    if (line.trim() === "") {
      prompt();
      continue;
    }
    if (isTerminal && (await desk.answer(line))) continue;
    const done = turns.take(line);
    done.catch(() => lines.close());
    underWay.push(done);
    // In a script, each line waits for the answer to the previous line.
    if (!isTerminal) await done;
  }
  await Promise.all(underWay).finally(() => clearInterval(asking));
}

/** Prints each frame as one line, for `--json`. */
function printFrame(frame: ServerFrame): void {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}

async function findAgentId(client: Client, wanted: string | undefined): Promise<string> {
  const agents = await client.agents();
  const agent = wanted === undefined ? defaultAgent(agents) : agents.find((one) => one.id === wanted);
  if (agent) return agent.id;
  const ids = agents.map((one) => one.id).join(", ");
  throw new GatewayError("usage", `There is no agent ${wanted ?? ""}. Available agents: ${ids || "none"}.`);
}
