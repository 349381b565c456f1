import type { Performance, PerformedMessage } from "./performance.ts";

/** Formats a performance for people, layer by layer. */
export function show(performance: Performance): string {
  const lines: string[] = [`# ${performance.name}`];
  const heading = (text: string): number => lines.push("", `## ${text}`);
  const block = (value: unknown): number =>
    lines.push((typeof value === "string" ? value : JSON.stringify(value, null, 2)).replace(/^/gm, "   "));

  for (const [index, { sent, status }] of performance.events.entries()) {
    heading(`Platform event ${index + 1} (answered ${status})`);
    block(sent);
  }
  for (const message of performance.messages) {
    heading(`Inbound message ${message.id}`);
    block(message.inbound);
    heading(`Route of ${message.id}`);
    lines.push(...traceLines(message, ["admit"]));
    for (const { tier, outcome, reason } of message.route.tiers) {
      if (outcome !== "not_reached") lines.push(`   ${tier.padEnd(22)} ${outcome}: ${reason}`);
    }
    lines.push(`   session: ${message.route.session.reason}`, ...traceLines(message, ["queue"]));
  }
  for (const message of performance.messages) {
    const prompt = message.trace.find((entry) => entry.stage === "prepare");
    if (!prompt) continue;
    heading(`System prompt for ${message.id}: ${prompt.summary}`);
    for (const section of sectionsOf(prompt.data)) {
      lines.push(
        `   ${section.part.padEnd(8)} ${section.name.padEnd(28)} ${String(section.chars).padStart(6)} characters  ~${section.tokens} tokens`,
      );
    }
  }
  let tool = 0;
  for (const [index, request] of performance.requests.entries()) {
    heading(`Model request ${index + 1} (answered ${request.status})`);
    block(request.body);
    const turn = performance.turns[index];
    if (turn !== undefined) {
      heading(`Model response ${index + 1}`);
      block(turn);
    }
    for (let call = 0; call < callsIn(turn); call++) {
      const result = performance.tools[tool++];
      if (!result) continue;
      heading(`Tool ${result.name}${result.isError ? " (error)" : ""}`);
      block({ args: result.args, details: result.details ?? null });
      block(result.text);
    }
  }
  for (const row of performance.outbox) {
    heading(`Outbox ${row.id}: ${row.state}, key ${row.key}`);
    block(row.payload);
  }
  for (const { method, path, body } of performance.sent) {
    heading(`Platform call ${method} ${path}`);
    block(body);
  }
  heading("Ends");
  for (const message of performance.messages) {
    lines.push(`   ${message.id}: ${message.state}${message.rule === undefined ? "" : ` (${message.rule})`}`);
  }
  return lines.join("\n");
}

function traceLines({ trace }: PerformedMessage, stages: readonly string[]): string[] {
  return trace
    .filter(({ stage }) => stages.includes(stage))
    .map(({ stage, summary }) => `   ${stage.padEnd(8)} ${summary}`);
}

interface Section {
  readonly name: string;
  readonly part: string;
  readonly chars: number;
  readonly tokens: number;
}

function sectionsOf(data: unknown): Section[] {
  const sections = data !== null && typeof data === "object" && "sections" in data ? data.sections : [];
  return Array.isArray(sections) ? sections.filter(isSection) : [];
}

function isSection(value: unknown): value is Section {
  return (
    value !== null &&
    typeof value === "object" &&
    "name" in value &&
    "part" in value &&
    "chars" in value &&
    "tokens" in value
  );
}

function callsIn(turn: unknown): number {
  const calls = turn !== null && typeof turn === "object" && "toolCalls" in turn ? turn.toolCalls : undefined;
  return Array.isArray(calls) ? calls.length : 0;
}
