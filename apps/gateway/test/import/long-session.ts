import type { AgentMessage } from "@signalbox/agent-core";
import { DAY, NOW } from "./import-run.ts";
import { answered, type FixtureSession, resulted, said } from "./openclaw-fixture.ts";

/** A conversation with three windows, a reset, a compaction, tools, mirrors and compressed events. */
export function createLongSession(): {
  session: FixtureSession;
  expected: (readonly [string, string])[][];
  replaced: number;
} {
  const start = NOW - 10 * DAY;
  const expected: (readonly [string, string])[][] = [];
  const windows = ["x", "y", "z"].map((id, number) => {
    const events: object[] = [{ type: "session", version: 4, id, cwd: "/" }];
    let texts: (readonly [string, string])[] = [];
    for (let turn = 0; turn < 400; turn++) {
      const at = start + number * DAY + turn * 1_000;
      const name = `${id}${turn}`;
      events.push(said(`${name}u`, `question ${name}`, at));
      events.push(
        answered(
          `${name}c`,
          [
            { type: "thinking", text: "hm" },
            { type: "toolCall", id: `call-${name}`, name: "read", arguments: { path: "a" } },
          ],
          at + 1,
          { stopReason: "toolUse" },
        ),
      );
      events.push(
        resulted(`${name}r`, `call-${name}`, turn === 7 ? "web_fetch" : "read", `content ${name}`, at + 2),
      );
      events.push(answered(`${name}a`, `answer ${name}`, at + 3));
      events.push(
        answered(`${name}m`, `answer ${name}`, at + 4, { provider: "openclaw", model: "delivery-mirror" }),
      );
      texts.push(
        ["user", `question ${name}`],
        ["assistant", ""],
        ["toolResult", `content ${name}`],
        ["assistant", `answer ${name}`],
      );
      if (id === "y" && turn === 199) {
        events.push({ type: "reset", id: "reset", reason: "new", timestamp: new Date(at + 5).toISOString() });
        expected.push(texts);
        texts = [];
      }
      if (id === "z" && turn === 99)
        events.push({
          type: "compaction",
          id: "compaction",
          summary: "so far",
          firstKeptEntryId: "z90u",
          timestamp: new Date(at + 5).toISOString(),
        });
    }
    expected.push(texts);
    return {
      id,
      createdAt: start + number * DAY,
      ...(number > 0 ? { previous: ["x", "y"][number - 1], reason: "rollover" } : {}),
      events,
      compressed: new Set(Array.from({ length: 100 }, (_, index) => 5 + index * 3)),
    };
  });
  return { session: { key: "agent:main:telegram:direct:5001", windows }, expected, replaced: 360 };
}

/** Returns the text of a message without its envelope. */
export const textOfMessage = (message: AgentMessage): string =>
  "content" in message
    ? typeof message.content === "string"
      ? message.content.replace(/^\[message_id: [^\n]*\]\n[^:\n]*: /, "")
      : message.content.flatMap((block) => ("text" in block ? [block.text] : [])).join("")
    : "summary";
