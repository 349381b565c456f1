import { textMessage } from "@signalbox/testkit/feishu";
import { exampleConfig, openWorld, type Started, type StartOptions, type World, ZHANG } from "./harness.ts";

/** Everybody may write; one owner. */
export const OWNED = { dm: "open", owners: [`feishu:${ZHANG}`], groups: { mode: "open" } };

/** A skill that everybody finds as the command `/create_python_script`. */
export const PYTHON_SKILL = `---
name: create-python-script
description: Write a Python script.
---
Write it.
`;

/** What people read of everything the bot sent, in order. */
export function said(world: World): string[] {
  return world.feishu.sent.map(({ content }) => textsIn(JSON.parse(content)).join("\n"));
}

/** Returns the texts in the content of a message. */
export function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === "text" || key === "content") && typeof inner === "string" ? [inner] : textsIn(inner),
  );
}

export async function open(
  config: Record<string, unknown> = {},
  options: StartOptions = {},
): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED, ...config }));
  world.files({ "skills/create-python-script/SKILL.md": PYTHON_SKILL });
  return { world, started: await world.start(options) };
}

let count = 0;
export const from = (senderId: string) => ({ senderId, messageId: `om_${++count}` });

export async function ask(started: Started, text: string, senderId = ZHANG): Promise<string> {
  const sender = from(senderId);
  await started.post(textMessage(text, sender));
  await started.settled();
  return sender.messageId;
}
