import { readFileSync } from "node:fs";
import type { Outbound } from "@signalbox/channel";
import { buttonsOf, type FakeDiscord } from "@signalbox/testkit/discord";
import { readSpec } from "@signalbox/testkit/wire";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { type Bench, channelId, never, openBench, until, zhang } from "./harness.ts";
import { recorded } from "./recorded.ts";

/**
 * Discord's OpenAPI document (https://github.com/discord/discord-api-spec, MIT), reduced to the operations that the
 * channel uses and the schemas that they and messages refer to, without texts and formats.
 */
const REDUCED = new URL("./fixtures/discord-openapi.json", import.meta.url);

/** The complete document if `SIGNALBOX_RECORDINGS` is set, otherwise the reduced one. */
const text = readSpec("discord.json") ?? readFileSync(REDUCED, "utf8");

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isFields(inner) ? inner[key] : undefined), value);
}

/** Validates values against Discord's OpenAPI document. */
function openSpec(document: Fields) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false });
  ajv.addSchema(document, "spec");
  const problems = (pointer: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`spec#/${pointer}`);
    if (validate === undefined) throw new TypeError(`the document has no ${pointer}`);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).slice(0, 5).map((one) => `${pointer}${one.instancePath} ${one.message}`);
  };
  const paths = Object.keys(isFields(document["paths"]) ? document["paths"] : {});
  return {
    message: (value: unknown) => problems("components/schemas/MessageResponse", value),
    /** Finds the document's path for a request. A literal path wins over one with a parameter. */
    pathOf(path: string): string | undefined {
      const fits = paths.filter((one) => new RegExp(`^${one.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(path));
      return fits.toSorted((a, b) => a.split("{").length - b.split("{").length)[0];
    },
    parameters(path: string, method: string): readonly unknown[] {
      const listed = at(document, "paths", path, method, "parameters");
      return (Array.isArray(listed) ? listed : []).map((one) => at(one, "name"));
    },
    body(path: string, method: string, value: unknown): string[] {
      const step = path
        .replaceAll("~", "~0")
        .replaceAll("/", "~1")
        .replaceAll("{", "%7B")
        .replaceAll("}", "%7D");
      return problems(`paths/${step}/${method}/requestBody/content/application~1json/schema`, value);
    },
  };
}

/** Makes every request of the channel once. */
async function doEverything({ channel, fakeServer, events }: Bench): Promise<void> {
  const to = { channelId };
  const send = (message: Outbound, key: string) =>
    channel.send(to, message, {
      idempotencyKey: key,
      signal: never,
      openMedia: async () => new Blob(["four"]).stream(),
    });
  const asked = fakeServer.plant({ channelId, authorId: zhang, content: "who?" });
  const buttons = [
    { id: "approve", label: "Allow", style: "primary", value: { id: "A1" } },
    { id: "answer", label: "Other", opensForm: true, value: { id: "A1" } },
  ] as const;
  const many = Array.from({ length: 8 }, (_, index) => ({ id: "answer", label: "Take it", value: index }));
  const media = {
    type: "media",
    kind: "file",
    name: "a.txt",
    mimeType: "text/plain",
    size: 4,
    ref: 1,
  } as const;
  const { parts } = await send({ parts: [{ type: "markdown", text: "**one**" }], replyTo: asked.id }, "k1");
  await send({ parts: [{ type: "buttons", text: "May it?", buttons }, media] }, "k2");
  await send({ parts: [{ type: "buttons", text: "Which?", buttons: many }] }, "k4");
  const long = await send({ parts: [{ type: "buttons", text: "x".repeat(3_000), buttons }] }, "k6");
  const ended = { parts: [{ type: "text", text: "Allowed." }] } as const;
  await channel.edit?.(to, long.parts[0]?.messageId ?? "", ended, never);
  await send({ parts: [{ type: "poll", question: "Where to?", options: ["Rome", "Oslo"] }] }, "k5");
  const messageId = parts[0]?.messageId ?? "";
  await channel.edit?.(to, messageId, { parts: [{ type: "text", text: "two" }] }, never);
  await channel.react?.(to, messageId, { emoji: "👍", on: true }, never);
  await channel.react?.(to, messageId, { emoji: "👍", on: false }, never);
  await channel.typing?.(to, { on: true }, never);
  await channel.history?.(to, { limit: 5, before: Date.now(), signal: never });
  await channel.resolve?.(zhang, never);
  await channel.openDirect?.(zhang, never);
  await channel.remove?.(to, messageId, never);
  await doCommands({ channel, fakeServer, events });
  fakeServer.gateway.invalidate();
  await until(() => fakeServer.gateway.identifies === 2);
}

async function doCommands({
  channel,
  fakeServer,
  events,
}: Pick<Bench, "channel" | "fakeServer" | "events">): Promise<void> {
  const command = fakeServer.interact(channelId, zhang, { kind: "command", name: "status" });
  await until(() => command.answeredWith !== undefined);
  const interactionId = events.at(-1)?.eventId.replace("interaction:", "") ?? "";
  const draft = await channel.openDraft?.(
    { channelId, interactionId },
    { idempotencyKey: "k3", signal: never },
  );
  await draft?.update("on");
  await draft?.finalize({ parts: [{ type: "markdown", text: "one" }] });
  const question = fakeServer.sent.find((one) => buttonsOf(one).length > 0);
  const customId = question === undefined ? "" : (buttonsOf(question)[0]?.customId ?? "");
  const click = fakeServer.interact(channelId, zhang, {
    kind: "click",
    messageId: question?.id ?? "",
    customId,
  });
  await until(() => click.answeredWith !== undefined);
  await doForms({ fakeServer, messageId: question?.id ?? "" });
}

async function doForms({
  fakeServer,
  messageId,
}: Pick<Bench, "fakeServer"> & { readonly messageId: string }) {
  const message = fakeServer.sent.find(({ id }) => id === messageId);
  const { customId = "" } = (message === undefined ? [] : buttonsOf(message))[1] ?? {};
  const ask = { kind: "message-command", name: "Ask about this", messageId } as const;
  for (const doing of [{ kind: "click", messageId, customId } as const, ask]) {
    const opened = fakeServer.interact(channelId, zhang, doing);
    await until(() => opened.form !== undefined);
    const filled = fakeServer.interact(channelId, zhang, { kind: "submit", opened, text: "in my own words" });
    await until(() => filled.answeredWith !== undefined);
  }
}

/** Fields that gateway messages have in addition to API messages. */
function asOfApi({ guild_id: _, member: _member, nonce: _nonce, ...message }: Fields): Fields {
  return message;
}

/** JSON bodies of requests. */
function bodiesOf(fakeServer: FakeDiscord) {
  return fakeServer.requests.flatMap(({ method, path, text: body }) => {
    const url = new URL(path, "http://fake");
    if (!url.pathname.startsWith("/api/v10/")) return [];
    const value: unknown = body === "" ? undefined : JSON.parse(body);
    return [
      {
        method: method.toLowerCase(),
        path: url.pathname.replace("/api/v10", ""),
        query: url.searchParams,
        value,
      },
    ];
  });
}

it("sends only requests that Discord's own document allows", async () => {
  const spec = openSpec(JSON.parse(text));
  const commands = [
    { name: "status", description: "How it is", localized: { zh: "现在怎样" }, usage: "[what]" },
  ];
  await using bench = await openBench({ context: { commands } });
  await until(() => bench.fakeServer.commands.length > 0);
  await doEverything(bench);
  const asked = new Set<string>();
  for (const { method, path, query, value } of bodiesOf(bench.fakeServer)) {
    const known = spec.pathOf(path);
    asked.add(`${method} ${known}`);
    expect(known, `${method} ${path}`).toBeDefined();
    expect(spec.parameters(known ?? "", method)).toEqual(expect.arrayContaining([...query.keys()]));
    if (value !== undefined) expect(spec.body(known ?? "", method, value), JSON.stringify(value)).toEqual([]);
  }
  expect(asked.size).toBeGreaterThan(14);
});

it("uses messages in tests that are valid by Discord's own document", async () => {
  const spec = openSpec(JSON.parse(text));
  for (const { name, payload } of recorded) {
    if (!["MESSAGE_CREATE", "MESSAGE_UPDATE"].includes(String(at(payload, "t")))) continue;
    const message = at(payload, "d");
    // The document only describes references of replies, not of forwards.
    if (at(message, "message_reference", "type") === 1) continue;
    expect(spec.message(isFields(message) ? asOfApi(message) : message), name).toEqual([]);
  }
  await using bench = await openBench();
  await bench.channel.send(
    { channelId },
    { parts: [{ type: "text", text: "x" }] },
    { idempotencyKey: "k", signal: never },
  );
  for (const sent of bench.fakeServer.sent)
    expect(spec.message(asOfApi(bench.fakeServer.eventOf(sent)))).toEqual([]);
});
