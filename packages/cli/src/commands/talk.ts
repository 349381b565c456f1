import { createInterface } from "node:readline/promises";
import { type Client, defaultAgent, type ServerFrame } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { runningGateway } from "../running.ts";

interface TalkOptions extends CommonOptions {
  readonly agent?: string;
  readonly conversation: string;
}

/** `signalbox send`: one message, in as many words as the shell makes of it, and its reply on standard output. */
export async function send(words: readonly string[], options: TalkOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const agent = await agentOf(client, options.agent);
  const frames: ServerFrame[] = [];
  for await (const frame of client.chat(agent, options.conversation, words.join(" "))) frames.push(frame);
  const reply = frames.flatMap((frame) =>
    frame.type === "message" && frame.message.role === "assistant" ? [frame.message.text] : [],
  );
  const end = frames.findLast((frame) => frame.type === "run.end");
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ agent, reply, outcome: end?.outcome, usage: end?.usage })}\n`);
  else process.stdout.write(`${reply.join("\n\n")}\n`);
  if (end?.outcome === "failed") {
    const error = frames.findLast((frame) => frame.type === "error");
    throw new GatewayError("failure", error?.message ?? "The agent could not answer.");
  }
}

/** `signalbox chat`: a conversation in the terminal, until end of input. What is typed while a turn runs reaches it. */
export async function chat(options: TalkOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const agent = await agentOf(client, options.agent);
  const json = options.json === true;
  const lines = createInterface({
    input: process.stdin,
    ...(json ? {} : { output: process.stdout }),
    prompt: `${agent}> `,
  });
  let open = true;
  lines.on("close", () => {
    open = false;
  });
  const prompt = (): void => {
    if (open && !json) lines.prompt();
  };
  /** Messages that have no end yet; the oldest shows what happens. */
  const turns: AbortController[] = [];
  const talk = async (line: string): Promise<void> => {
    const turn = new AbortController();
    turns.push(turn);
    const show = json ? printFrame : createScreen();
    try {
      for await (const frame of client.chat(agent, options.conversation, line, { signal: turn.signal }))
        if (turns[0] === turn) show(frame);
    } finally {
      turns.splice(turns.indexOf(turn), 1);
      if (turns.length === 0) {
        if (!json) process.stdout.write("\n");
        prompt();
      }
    }
  };
  lines.on("SIGINT", () => {
    if (turns.length === 0) lines.close();
    for (const turn of turns) turn.abort();
  });
  if (!json)
    process.stdout.write(
      `Talking to ${agent}. /help says what you can do. Ctrl+C stops a reply, Ctrl+D ends.\n`,
    );
  prompt();
  const underWay: Promise<void>[] = [];
  for await (const line of lines) {
    if (line.trim() === "") {
      prompt();
      continue;
    }
    const done = talk(line);
    done.catch(() => lines.close());
    underWay.push(done);
    // A script's lines are a conversation: each waits for the answer before it.
    if (process.stdin.isTTY !== true) await done;
  }
  await Promise.all(underWay);
}

/** With `--json`: each frame on a line of its own. */
function printFrame(frame: ServerFrame): void {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}

/** Shows the frames of a conversation on standard output. */
function createScreen(): (frame: ServerFrame) => void {
  /** Whether a text is on its way in pieces, so that it is there when it is told whole. */
  let streamed = false;
  return (frame) => {
    switch (frame.type) {
      case "text.delta":
        streamed = true;
        process.stdout.write(frame.delta);
        return;
      case "message":
        if (frame.message.role !== "assistant") return;
        if (!streamed) process.stdout.write(`${frame.message.text}\n`);
        streamed = false;
        return;
      case "tool.start":
        process.stdout.write(`\n[${frame.call.name} ${JSON.stringify(frame.call.args)}]\n`);
        return;
      case "tool.end":
        if (frame.call.isError) process.stdout.write(`[${frame.call.name}: ${frame.call.text}]\n`);
        return;
      case "error":
        process.stdout.write(`\n${frame.message}${frame.remedy ? ` ${frame.remedy}` : ""}\n`);
        return;
      default:
        return;
    }
  };
}

async function agentOf(client: Client, wanted: string | undefined): Promise<string> {
  const agents = await client.agents();
  const agent = wanted === undefined ? defaultAgent(agents) : agents.find((one) => one.id === wanted);
  if (agent) return agent.id;
  const known = agents.map((one) => one.id).join(", ");
  throw new GatewayError("usage", `There is no agent ${wanted ?? ""}. There are: ${known || "none"}.`);
}
