import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testModel } from "../../test/support/fixtures.ts";
import { readTurn } from "../testkit/index.ts";
import { modelTurn } from "../turn/turn.ts";
import { readResponse } from "./event-stream.ts";

/** Parses a body that arrives in these chunks and returns the data of its events. */
async function parse(pieces: readonly Uint8Array[]): Promise<string[]> {
  const events: string[] = [];
  const response = new Response(ReadableStream.from(pieces));
  const reader = { data: (text: string) => void events.push(text) };
  await readTurn(modelTurn({ model: testModel("x", "x") }, (turn) => readResponse(turn, response, reader)));
  return events;
}
const bytes = (text: string): Buffer => Buffer.from(text);

describe("the event stream parser", () => {
  it("reads data of several lines, and ignores comments and unknown fields", async () => {
    const body = ": hi\nevent: a\ndata: 1\n\ndata:2\ndata: 3\nid: 4\nretry: 5\n\ndata\n\n\n\n";
    expect(await parse([bytes(body)])).toEqual(["1", "2\n3", ""]);
  });

  it("reads CRLF like LF", async () => {
    expect(await parse([bytes("event: a\r\ndata: 1\r\n\r\n")])).toEqual(["1"]);
  });

  it("delivers a last event without its blank line", async () => {
    expect(await parse([bytes("data: 1\n\ndata: 2")])).toEqual(["1", "2"]);
  });

  it("reads the same events however the bytes are cut", async () => {
    const line = fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
      fc.constantFrom("event: 名前", ": comment", "", "data", "data:", "id: 1", "event:x"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.constantFrom("\n", "\r\n"),
        fc.array(fc.nat(400)),
        async (lines, newline, cuts) => {
          const all = bytes(lines.join(newline) + newline);
          const edges = [0, ...cuts.filter((cut) => cut < all.length).toSorted((a, b) => a - b), all.length];
          const pieces = edges.slice(1).map((edge, at) => all.subarray(edges[at], edge));
          expect(await parse(pieces)).toEqual(await parse([all]));
        },
      ),
    );
  });
});
