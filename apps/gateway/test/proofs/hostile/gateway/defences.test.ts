import { expect, it } from "vitest";
import { applyEdit, readSource } from "../../mutants/build-copy.ts";
import { ATTACK_KINDS, ATTACKS } from "./attacks.ts";
import { GATEWAY_DEFENCES } from "./defences.ts";

it.each(GATEWAY_DEFENCES)("the defence can be removed from the build: $name", ({ edits }) => {
  for (const edit of edits) expect(applyEdit(readSource(edit.file), edit)).toContain(edit.to);
});

it("each kind has attacks and a defence", () => {
  expect(new Set(ATTACKS.map(({ kind }) => kind))).toEqual(new Set(ATTACK_KINDS));
  expect(new Set(GATEWAY_DEFENCES.map(({ kind }) => kind))).toEqual(new Set(ATTACK_KINDS));
});
