import { expect, it } from "vitest";
import { fillTemplate } from "./fill-template.ts";

const body = { name: "a {{name}}", n: 3, list: [{ id: "x" }], deep: { none: null, yes: true } };

it.each([
  ["{{name}}", "a {{name}}"],
  ["{{ n }} of {{list.0.id}}", "3 of x"],
  ["{{deep}}|{{deep.none}}|{{deep.yes}}|{{missing.at.all}}", '{"none":null,"yes":true}||true|'],
  ["{{__proto__}}{{constructor.name}}{{list.length}}", "1"],
  ["{name} {{}} $& plain", "{name} {{}} $& plain"],
])("fills %s", (template, text) => {
  expect(fillTemplate(template, body)).toBe(text);
});

it("accepts any JSON value as the body", () => {
  for (const value of [null, 3, "text", []]) expect(fillTemplate("-{{a.b}}-", value)).toBe("--");
});
