import { createInterface } from "node:readline/promises";
import type { Client, ServerFrame } from "@signalbox/client";
import { EXIT, GatewayError } from "../errors.ts";
import type { CommonOptions } from "./program.ts";
import { runningGateway } from "./running.ts";

interface TalkOptions extends CommonOptions {
  readonly agent?: string;
  readonly conversation: string;
}

/** `signalbox send`: one message, its reply on standard output. */
export async function send(text: string, options: TalkOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const agent = await agentOf(client, options.agent);
  const frames: ServerFrame[] = [];
  for await (const frame of client.chat(agent, options.conversation, text)) frames.push(frame);
  const reply = frames.flatMap((frame) =>
    frame.type === "message" && frame.message.role === "assistant" ? [frame.message.text] : [],
  );
  const end = frames.findLast((frame) => frame.type === "run.end");
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ agent, reply, outcome: end?.outcome, usage: end?.usage })}\n`);
  else process.stdout.write(`${reply.join("\n\n")}\n`);
  if (end?.outcome === "failed") {
    const error = frames.findLast((frame) => frame.type === "error");
    throw new GatewayError(EXIT.failure, error?.message ?? "The agent could not answer.");
  }
}

/** `signalbox chat`: a conversation in the terminal, until end of input. */
export async function chat(options: TalkOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const agent = await agentOf(client, options.agent);
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: `${agent}> ` });
  let turn: AbortController | undefined;
  lines.on("SIGINT", () => (turn ? turn.abort() : lines.close()));
  process.stdout.write(`Talking to ${agent}. Ctrl+C stops a reply, Ctrl+D ends.\n`);
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "") {
      turn = new AbortController();
      for await (const frame of client.chat(agent, options.conversation, line, { signal: turn.signal }))
        show(frame);
      turn = undefined;
      process.stdout.write("\n");
    }
    lines.prompt();
  }
}

function show(frame: ServerFrame): void {
  if (frame.type === "text.delta") process.stdout.write(frame.delta);
  else if (frame.type === "tool.start")
    process.stdout.write(`\n[${frame.call.name} ${JSON.stringify(frame.call.args)}]\n`);
  else if (frame.type === "tool.end" && frame.call.isError)
    process.stdout.write(`[${frame.call.name}: ${frame.call.text}]\n`);
  else if (frame.type === "error")
    process.stdout.write(`\n${frame.message}${frame.remedy ? ` ${frame.remedy}` : ""}\n`);
}

async function agentOf(client: Client, wanted: string | undefined): Promise<string> {
  const agents = await client.agents();
  const agent = wanted === undefined ? agents[0] : agents.find((one) => one.id === wanted);
  if (agent) return agent.id;
  const known = agents.map((one) => one.id).join(", ");
  throw new GatewayError(EXIT.usage, `There is no agent ${wanted ?? ""}. There are: ${known || "none"}.`);
}
