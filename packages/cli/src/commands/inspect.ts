import type { Trace } from "@signalbox/client";
import { GatewayError, locateHome } from "@signalbox/home";
import { whyLines } from "@signalbox/telemetry";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** `signalbox sessions` */
export async function sessions(options: CommonOptions): Promise<void> {
  const rows = await withStore(options, "read", (store) => store.sessions.list());
  print(options.json, rows, () =>
    rows.map((row) => {
      const { totals } = row;
      const money = totals.costMicros > 0 ? `, $${(totals.costMicros / 1e6).toFixed(4)}` : "";
      const tokens = `${totals.inputTokens + totals.outputTokens} tokens${money}`;
      return `${new Date(row.updatedAt).toISOString()}  ${row.key}  ${row.messageCount} messages, ${tokens}`;
    }),
  );
}

/** `signalbox trace <message>`: by the gateway's id of the message or the platform's. */
export async function trace(id: string, options: CommonOptions, host: GatewayHost): Promise<void> {
  const found = await findTrace(id, options, host);
  print(options.json, found, () =>
    found.entries.flatMap((entry) => [
      `${new Date(entry.at).toISOString()}  ${entry.stage.padEnd(8)} ${entry.summary}`,
      ...(entry.data === undefined ? [] : [`          ${JSON.stringify(entry.data)}`]),
    ]),
  );
}

/** `signalbox why <message>`: one line a stage. */
export async function why(id: string, options: CommonOptions, host: GatewayHost): Promise<void> {
  const found = await findTrace(id, options, host);
  const lines = whyLines(found);
  print(options.json, lines, () => lines.map(({ stage, summary }) => `${stage.padEnd(8)} ${summary}`));
}

/** From the running gateway, which writes its notes a moment later than it makes them; else from the database. */
async function findTrace(id: string, options: CommonOptions, host: GatewayHost): Promise<Trace> {
  const found =
    (await traceOfRunning(id, options)) ?? (await host.trace(locateHome(options.home, process.env), id));
  if (found) return found;
  throw new GatewayError(
    "failure",
    `No message ${id} is known. Use the id of the gateway or of the platform.`,
  );
}

async function traceOfRunning(id: string, options: CommonOptions): Promise<Trace | undefined> {
  try {
    const { client } = await runningGateway(options.home);
    return await client.trace(id);
  } catch {
    return undefined;
  }
}
