import { expect, test } from "vitest";
import { oncePerMessage } from "./once.ts";

interface Said {
  readonly text: string;
}

const said = (text: string): Said => ({ text });

function counted() {
  const made: string[] = [];
  const upper = oncePerMessage(({ text }: Said) => {
    made.push(text);
    return text.toUpperCase();
  });
  return { made, upper };
}

test("what a history shares with the last one of the same beginning is made once", () => {
  const { made, upper } = counted();
  const [a, b, c] = [said("a"), said("b"), said("c")];
  expect(upper([a, b])).toEqual(["A", "B"]);
  expect(upper([a, b, c])).toEqual(["A", "B", "C"]);
  expect(made).toEqual(["a", "b", "c"]);
});

test("a message that another stands for is made anew, those behind it are not", () => {
  const { made, upper } = counted();
  const [a, b, c] = [said("a"), said("b"), said("c")];
  upper([a, b, c]);
  expect(upper([a, said("pruned"), c])).toEqual(["A", "PRUNED", "C"]);
  expect(made).toEqual(["a", "b", "c", "pruned"]);
});

test("histories with different beginnings do not take each other's place", () => {
  const { made, upper } = counted();
  const [a, b] = [said("a"), said("b")];
  upper([a]);
  upper([b]);
  expect(upper([a, b])).toEqual(["A", "B"]);
  expect(upper([b])).toEqual(["B"]);
  expect(upper([])).toEqual([]);
  expect(made).toEqual(["a", "b", "b"]);
});
