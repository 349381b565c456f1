import { expect, it } from "vitest";
import { createScenarioTurns } from "./turns.ts";

const asks = (text: string) => ({ messages: [{ role: "user", content: [{ type: "text", text }] }] });

it("gives a turn to the request that it answers, whichever comes first, and the others in order", () => {
  const turns = createScenarioTurns([
    { text: "first" },
    { answers: "report", text: "reported" },
    { text: "second" },
  ]);
  const [report, one, two] = [asks("the report, please"), asks("hello"), asks("and again")];
  expect([report, one, two].map((request) => turns.answer(request).text)).toEqual([
    "reported",
    "first",
    "second",
  ]);
  expect([one, report, two].map(turns.placeOf)).toEqual([0, 1, 2]);
});

it("looks at the last message alone, and gives each turn once", () => {
  const turns = createScenarioTurns([{ answers: "report", text: "reported" }]);
  const said = asks("the report, please").messages;
  const later = { messages: [...said, ...asks("thank you").messages] };
  expect(turns.answer(later).error).toMatchObject({ status: 400 });
  expect(turns.answer({ messages: said }).text).toBe("reported");
  expect(turns.answer({ messages: said }).error).toMatchObject({ status: 400 });
});
