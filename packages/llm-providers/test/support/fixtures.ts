import { readdirSync, readFileSync } from "node:fs";
import type { AssistantMessage, Block, Model } from "@signalbox/agent-core";
import type { RecordedStream } from "../../src/testkit/index.ts";

/** The handwritten streams of a vendor, by name. */
export function fixtures(vendor: string): ReadonlyMap<string, Buffer> {
  const folder = new URL(`../fixtures/${vendor}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sse"));
  return new Map(names.sort().map((name) => [name.slice(0, -4), readFileSync(new URL(name, folder))]));
}

/**
 * The same for the conformance suite. Streams whose name starts with `error` end in one.
 * @param refused streams that start with a refusal, so that nothing can be interrupted
 */
export function recordedStreams(vendor: string, refused: readonly string[] = []): RecordedStream[] {
  return [...fixtures(vendor)]
    .filter(([name]) => name !== "empty" && !refused.includes(name))
    .map(([name, body]) => ({ name, body, ends: /^(error|failed)/.test(name) ? "error" : "finish" }));
}

function briefBlock(block: Block): string {
  const data = block.native === undefined ? "" : ` ${JSON.stringify(block.native.data)}`;
  switch (block.type) {
    case "text":
    case "thinking":
    case "refusal":
      return `${block.type}: ${block.text}${data}`;
    case "toolCall":
      return `${block.argsError === undefined ? "call" : "bad call"}: ${block.id} ${block.name} ${block.argsText}${data}`;
    case "citation":
      return `citation: ${block.text} ${block.title ?? ""} ${block.url ?? ""}`;
    case "opaque":
      return `opaque:${data}`;
    default:
      return `${block.type}: ${block.mimeType} ${block.source.kind === "base64" ? block.source.data : block.source.url}${data}`;
  }
}

/** Summarizes a message in a few lines: how it ended, its content, its usage. */
export function brief(message: AssistantMessage): string[] {
  const { input, output, source } = message.usage ?? {
    input: undefined,
    output: undefined,
    source: undefined,
  };
  const error = message.error === undefined ? "" : ` ${message.error.code}: ${message.error.message}`;
  return [
    `${message.stopReason} (${message.rawStopReason ?? ""})${error}`,
    ...message.content.map(briefBlock),
    ...(input === undefined
      ? []
      : [
          `${source}: in ${input.total} = ${input.uncached} + ${input.cacheRead} + ${input.cacheWrite}, out ${output?.total} (${output?.reasoning})`,
        ]),
  ];
}

/** A model for replaying fixtures. */
export function testModel(api: string, id: string, quirks: Model["quirks"] = {}): Model {
  return {
    id,
    provider: "test",
    api,
    contextWindow: 100_000,
    maxOutputTokens: 8_000,
    input: ["text"],
    thinking: [],
    tools: "native",
    ...(quirks === undefined ? {} : { quirks }),
  };
}

/** The expected result of each stream of a vendor, in the form of `brief`. */
export function expectedBriefs(vendor: string): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(readFileSync(new URL(`../fixtures/${vendor}/expected.json`, import.meta.url), "utf8"));
}
