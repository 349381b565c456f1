import type { Block, InputBlock, MediaSource, Message, Model } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { adapt } from "../src/adapt/adapt.ts";
import { readTurn, wire } from "../src/testkit/index.ts";
import { call, result, said, user } from "./support/conversations.ts";
import { type Family, families } from "./support/families.ts";
import { testModel } from "./support/fixtures.ts";

const DATA = Buffer.from("the bytes of it").toString("base64");
const inline: MediaSource = { kind: "base64", data: DATA };
const linked: MediaSource = { kind: "url", url: "https://files.example/it" };

const MEDIA: readonly InputBlock[] = [inline, linked].flatMap((source): InputBlock[] => [
  { type: "image", mimeType: "image/png", source },
  { type: "image", mimeType: "image/tiff", source },
  { type: "audio", mimeType: "audio/wav", source },
  { type: "audio", mimeType: "audio/mpeg", source },
  { type: "audio", mimeType: "audio/ogg", source },
  { type: "file", mimeType: "application/pdf", name: "it.pdf", source },
  { type: "file", mimeType: "text/csv", name: "it.csv", source },
  { type: "file", mimeType: "application/zip", name: "it.zip", source },
]);

function modelOf(family: Family): Model {
  return { ...family.model, input: ["text", "image", "audio", "file"] };
}

interface Sent {
  readonly body: string;
  readonly warnings: readonly string[];
}

async function send(family: Family, messages: readonly Message[]): Promise<Sent> {
  const line = wire({ pieces: [] });
  const stream = family.provider.connect({ apiKey: "k", baseUrl: "https://vendor.test", fetch: line.fetch });
  const { events } = await readTurn(
    stream(modelOf(family), { system: { stable: "" }, messages: [...messages, user("Now?")], tools: [] }),
  );
  const [start] = events;
  return {
    body: line.requests[0]?.body ?? "",
    warnings: start?.type === "start" ? start.warnings.map((one) => `${one.code}: ${one.message}`) : [],
  };
}

const PLACES: readonly (readonly [string, (model: Model, block: InputBlock) => Message[]])[] = [
  ["a person", (_, block) => [user([{ type: "text", text: "Look." }, block])]],
  [
    "a tool",
    (model, block) => [
      user("Look."),
      said(model, [call("call00001", "now", {})]),
      result("call00001", "now", [block]),
    ],
  ],
  [
    "the model itself",
    (model, block) => {
      const { api, provider, id } = model;
      const data = { type: "image_generation_call", id: "ig_1" };
      const made: Block = { ...block, native: { api, provider, model: id, data } };
      return [user("Draw."), said(model, [made, { type: "text", text: "Here." }])];
    },
  ],
];

const AUDIO = ["wav", "mpeg", "ogg"].flatMap((type) => [`audio/${type} base64`, `audio/${type} url`]);

/** The media that an API does not accept from users and tools. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "anthropic-messages": [
    ...AUDIO,
    "image/tiff base64",
    "text/csv url",
    "application/zip base64",
    "application/zip url",
  ],
  "openai-responses": AUDIO,
  "openai-chat": [
    "audio/ogg base64",
    ...["audio/wav", "audio/mpeg", "audio/ogg", "application/pdf", "text/csv", "application/zip"].map(
      (type) => `${type} url`,
    ),
  ],
  "mistral-chat": [],
  "google-generative": [],
};

/** Text documents are sent as text. */
const CARRIED = [DATA, "the bytes of it", "https://files.example/it"];

describe.each(families.map((family) => [family.provider.api, family] as const))("%s", (_, family) => {
  test.each(PLACES)("sends media from %s, or describes them with a warning", async (_place, place) => {
    for (const block of MEDIA) {
      const what = `${block.type} ${"mimeType" in block ? block.mimeType : ""} ${"source" in block ? block.source.kind : ""}`;
      const messages = place(modelOf(family), block);
      const { body, warnings } = await send(family, messages);
      const losses = adapt(messages, modelOf(family)).losses.filter((loss) => loss.kind === "media");
      const told = warnings.filter((warning) => warning.startsWith("history_media"));
      if (body.includes("left out: ")) {
        expect([losses.length, told.length], what).toEqual([1, 1]);
        expect(told[0], what).toContain("mimeType" in block ? block.mimeType : "");
      } else {
        expect([losses.length, told.length], what).toEqual([0, 0]);
        expect(
          CARRIED.some((sign) => body.includes(sign)),
          `${what} vanished`,
        ).toBe(true);
      }
    }
  });

  test("leaves out only what its API refuses", () => {
    const refused = MEDIA.flatMap((block) => {
      if (block.type === "text") return [];
      const { losses } = adapt([user([block])], modelOf(family));
      return losses.length > 0 ? [`${block.mimeType} ${block.source.kind}`] : [];
    });
    expect(refused.sort()).toEqual([...(REFUSED[family.provider.api] ?? [])].sort());
  });

  test("warns of the stop sequences that it drops", async () => {
    const line = wire({ pieces: [] });
    const stream = family.provider.connect({
      apiKey: "k",
      baseUrl: "https://vendor.test",
      fetch: line.fetch,
    });
    const stopSequences = ["a", "b", "c", "d", "e", "f", "  "];
    const { events } = await readTurn(
      stream(
        { ...modelOf(family), thinking: [] },
        { system: { stable: "" }, messages: [user("Hi.")], tools: [] },
        { stopSequences },
      ),
    );
    const [start] = events;
    const kept = stopSequences.filter((one) => line.requests[0]?.body.includes(`"${one}"`));
    const told = start?.type === "start" && start.warnings.some((one) => one.code === "stop_dropped");
    expect(told).toBe(kept.length < stopSequences.length);
  });
});

describe("images in a request to Anthropic", () => {
  const model: Model = { ...testModel("anthropic-messages", "claude-sonnet-4-6"), input: ["text", "image"] };
  const png = (width: number, height: number): InputBlock => {
    const bytes = Buffer.from("89504e470d0a1a0a0000000d4948445200000000000000000806000000", "hex");
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return {
      type: "image",
      mimeType: "image/png",
      source: { kind: "base64", data: bytes.toString("base64") },
    };
  };
  const shown = (...pictures: readonly InputBlock[]) => {
    const { messages, losses } = adapt(
      pictures.map((picture) => user([picture])),
      model,
    );
    const kept = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    return { kept: kept.map(({ type }) => type), losses: losses.map(({ message }) => message) };
  };
  const small = Array<InputBlock>(18).fill(png(2_000, 2_000));

  test("have at most 8,000 pixels a side, or 2,000 if there are more than twenty", () => {
    const images = Array<string>(20).fill("image");
    expect(shown(...small, png(2_001, 1), png(1, 8_000))).toEqual({ kept: images, losses: [] });
    expect(shown(png(1, 8_001))).toEqual({ kept: ["text"], losses: [0] });
    expect(shown(png(2_001, 1), ...small, png(1, 2_001), png(2_000, 2_000))).toEqual({
      kept: ["text", ...small.map(() => "image"), "text", "image"],
      losses: [0, 19],
    });
  });

  test("need a known size if there are more than twenty", () => {
    const hidden: InputBlock = { type: "image", mimeType: "image/png", source: inline };
    expect(shown(hidden).losses).toEqual([]);
    expect(shown(...small, ...small, hidden).losses).toEqual([36]);
  });
});
