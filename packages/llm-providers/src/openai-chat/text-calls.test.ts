import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextCalls } from "./text-calls.ts";

const CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>';
/** A call as a web page may contain it, without the closing tag. */
const QUOTED = "<tool_call>\n<function=read>\n<parameter=path>a</parameter>\n</function>";
const KIMI = '<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a"}';
const READ = { name: "read", argsText: '{"path":"a"}' };

function find(pieces: readonly string[]) {
  const calls = new TextCalls(["read"]);
  const passed = pieces.map((piece) => calls.push(piece)).join("");
  const rest = calls.end(true);
  return { text: passed + rest.text, calls: rest.calls };
}

describe("calls in the text of an answer", () => {
  it.each([
    ["alone", CALL, ""],
    ["after text", `I look.\n${CALL}`, "I look.\n"],
    ["without the last tag", CALL.slice(0, -12), ""],
  ])("are found %s", (_where, whole, text) => {
    expect(find([whole])).toEqual({ text, calls: [READ] });
  });

  it.each([
    ["Hermes", '<tool_call>[{"function":{"name":"read","arguments":{"path":"a"}}}]</tool_call>'],
    ["GLM", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>"],
    [
      "Qwen3-Coder",
      "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
    ],
    ["Qwen3-Coder without the outer tag", "<function=read>\n<parameter=path>\na\n</parameter>\n</function>"],
    [
      "Kimi",
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>',
    ],
    [
      "DeepSeek",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{"path":"a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      "DeepSeek V3.1",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path":"a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    ["Mistral", '[TOOL_CALLS][{"name": "read", "arguments": {"path": "a"}}]'],
    ["Mistral Small", '[TOOL_CALLS]read[ARGS]{"path":"a"}'],
    ["Llama", '<|python_tag|>{"name": "read", "parameters": {"path": "a"}}<|eom_id|>'],
    [
      "MiniMax",
      '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
  ])("are found as %s writes them", (_model, whole) => {
    for (const pieces of [[whole], [...whole]]) expect(find(pieces)).toEqual({ text: "", calls: [READ] });
  });

  it("are found one after the other", () => {
    expect(find([`${CALL}\n${CALL}\n`])).toEqual({ text: "", calls: [READ, READ] });
  });

  it.each([
    ["text follows", `${CALL}\nThat is how I call it.`],
    ["the tool was not offered", CALL.replace("read", "rm")],
    ["they are no JSON", "<tool_call>read(a)</tool_call>"],
    ["they stand within a line", `Write ${CALL.replaceAll("\n", "")}`],
    ["prose follows a call without its closing tag", `${QUOTED}\nThis is an injection. I will not run it.`],
    [
      "prose follows a function without its closing tag",
      "<function=read>\n<parameter=path>a</parameter>\nNo.",
    ],
    [
      "prose stands between calls",
      '<function_calls><invoke name="read"></invoke> No. <invoke name="read"></invoke>',
    ],
    [
      "the last parameter is not closed",
      "<tool_call>\n<function=read>\n<parameter=path>a\nI will not run it.",
    ],
    ["the arguments are followed by prose", `<|tool_calls_section_begin|>${KIMI} I will not run it.`],
    ["they are in a code fence", `\`\`\`xml\n${CALL}`],
    ["they are in a closed code fence", `\`\`\`xml\n${QUOTED}\n\`\`\``],
  ])("stay text if %s", (_why, whole) => {
    expect(find([whole])).toEqual({ text: whole, calls: [] });
  });

  it("are found however the text is cut into pieces", () => {
    const part = fc.constantFrom(
      "<tool_call>",
      "</tool_call>",
      '{"name":"read"}',
      "<",
      "tool_",
      "\n",
      " ",
      "a",
      CALL,
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(60)), (parts, cuts) => {
        const whole = parts.join("");
        const at = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
        const pieces = [...at, whole.length].map((end, i) => whole.slice(i === 0 ? 0 : at[i - 1], end));
        expect(find(pieces)).toEqual(find([whole]));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["open parameters", `<tool_call>\n<function=read>${"<parameter=a>".repeat(20_000)}`],
    ["spaces after the name", `[TOOL_CALLS]read${" ".repeat(100_000)}x`],
    [
      "spaces in the arguments",
      `<|tool_calls_section_begin|>${KIMI.replace("{", `{${" ".repeat(100_000)}x`)}`,
    ],
  ])("are refused quickly if they have many %s", (_what, text) => {
    const { user } = process.cpuUsage();
    find([text]);
    // In microseconds. A search from each of them takes some seconds.
    expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
  });

  it("holds back nothing but a line that may begin a call", () => {
    const calls = new TextCalls(["read"]);
    expect(calls.push("One.\nTwo <b>\n")).toBe("One.\nTwo <b>\n");
    expect(calls.push("<tool")).toBe("");
    expect(calls.push("s> are nice.")).toBe("<tools> are nice.");
  });
});
