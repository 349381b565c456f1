import type { Trace } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import { explain, visibleLine, whyLines } from "@signalbox/telemetry";
import type { CommonOptions } from "../common-options.ts";
import { latestMessages, readStoredTrace } from "../home-messages.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";
import { short, time } from "../table.ts";

const TEXT_CHARS = 60;

/**
 * `signalbox trace [message]`: prints every trace entry of a message, with long values cut. Default: the latest
 * message.
 */
export async function trace(id: string | undefined, options: CommonOptions): Promise<void> {
  const trace = await findTrace(id, options);
  print(options.json, trace, () =>
    trace.entries.flatMap((entry) => [
      `${time(entry.at)}  ${entry.stage.padEnd(8)} ${visibleLine(entry.summary)}`,
      ...formatData(entry.data),
    ]),
  );
}

const VALUE_CHARS = 200;

/** Formats the data of a trace entry, with one value in each line. */
function formatData(data: unknown): readonly string[] {
  if (data === undefined) return [];
  const values = typeof data === "object" && data !== null && !Array.isArray(data) ? data : { data };
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [`    ${visibleLine(name)}: ${visibleLine(short(text, VALUE_CHARS))}`];
  });
}

/**
 * `signalbox why [message]`: explains in one sentence what happened to a message, and names the rule. `--details` adds
 * a line for each stage.
 */
export async function why(
  id: string | undefined,
  options: CommonOptions & { readonly details?: boolean },
): Promise<void> {
  const trace = await findTrace(id, options);
  const { sentence, said, remedy } = explain(trace);
  const lines = whyLines(trace);
  const { message } = trace;
  const json = { id: trace.messageId, message, sentence, said, remedy, notes: lines };
  print(options.json, json, () => [
    ...(message === undefined
      ? []
      : [
          `${visibleLine(message.id)}, ${time(message.at)}, ${message.channel}/${message.account}: "${short(message.text, TEXT_CHARS)}"`,
        ]),
    sentence,
    ...(said === undefined ? [] : [`  ${said}`]),
    ...(remedy === undefined ? [] : [remedy]),
    ...(options.details === true
      ? ["", ...lines.map(({ stage, summary }) => `${stage.padEnd(8)} ${visibleLine(summary)}`)]
      : ["`--details` shows every step."]),
  ]);
}

/**
 * Reads the trace from the running gateway, which stores its entries with a delay. If no gateway is running, reads it
 * from the database.
 */
async function findTrace(asked: string | undefined, options: CommonOptions): Promise<Trace> {
  const id = asked ?? (await latestMessages(options, { limit: 1 }))[0]?.id;
  if (id === undefined) throw new GatewayError("failure", "No messages yet.");
  const trace = await readMessageTrace(id, options);
  if (trace) return trace;
  throw new GatewayError(
    "failure",
    `There is no message ${id}. \`signalbox messages\` lists the latest; you can use their ids or those of the platforms.`,
  );
}

/** Returns the trace of a message, from the running gateway if there is one. */
export async function readMessageTrace(id: string, options: CommonOptions): Promise<Trace | undefined> {
  return (await traceOfRunning(id, options)) ?? readStoredTrace(options, id);
}

async function traceOfRunning(id: string, options: CommonOptions): Promise<Trace | undefined> {
  try {
    const { client } = await runningGateway(options.home);
    return await client.trace(id);
  } catch {
    return undefined;
  }
}
