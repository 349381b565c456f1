import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseParser } from "./sse.ts";

type Event = readonly [data: string, event: string];

function parse(pieces: readonly Uint8Array[]): Event[] {
  const events: Event[] = [];
  const parser = new SseParser((data, event) => events.push([data, event]));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return events;
}
const bytes = (text: string): Buffer => Buffer.from(text);

describe("the event stream parser", () => {
  it("reads data, names, several lines, comments, and lines without a space", () => {
    expect(
      parse([bytes(": hi\nevent: a\ndata: 1\n\ndata:2\ndata: 3\nid: 4\nretry: 5\n\ndata\n\n\n\n")]),
    ).toEqual([
      ["1", "a"],
      ["2\n3", ""],
      ["", ""],
    ]);
  });

  it("reads CRLF as it reads LF", () => {
    expect(parse([bytes("event: a\r\ndata: 1\r\n\r\n")])).toEqual([["1", "a"]]);
  });

  it("delivers a last event that lacks its blank line", () => {
    expect(parse([bytes("data: 1\n\ndata: 2")])).toEqual([
      ["1", ""],
      ["2", ""],
    ]);
  });

  it("does not carry a name over to an event without data", () => {
    expect(parse([bytes("event: ping\n\ndata: 1\n\n")])).toEqual([["1", ""]]);
  });

  it("says the same however the bytes are cut", () => {
    const line = fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
      fc.constantFrom("event: 名前", ": comment", "", "data", "data:", "id: 1", "event:x"),
    );
    fc.assert(
      fc.property(
        fc.array(line),
        fc.constantFrom("\n", "\r\n"),
        fc.array(fc.nat(400)),
        (lines, newline, cuts) => {
          const all = bytes(lines.join(newline) + newline);
          const edges = [0, ...cuts.filter((cut) => cut < all.length).toSorted((a, b) => a - b), all.length];
          const pieces = edges.slice(1).map((edge, at) => all.subarray(edges[at], edge));
          expect(parse(pieces)).toEqual(parse([all]));
        },
      ),
    );
  });
});
