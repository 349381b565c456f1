// Compares splitting a long answer with slicing it at fixed lengths. Usage: node bench/index.ts [rounds]
import { splitText } from "../src/index.ts";

const rounds = Number(process.argv[2] ?? 200);
const paragraph =
  "A paragraph of some length, with 中文句子。 and `code` and **marks**, as models write them. It goes on.\n\n";
const code = `\`\`\`ts\n${"const value = compute(input);\n".repeat(40)}\`\`\`\n\n`;
const text = (paragraph.repeat(20) + code).repeat(30);

function measure(work: () => unknown): number {
  for (let round = 0; round < rounds / 10; round += 1) work();
  const start = performance.now();
  for (let round = 0; round < rounds; round += 1) work();
  return (performance.now() - start) / rounds;
}

function slice(max: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += max) parts.push(text.slice(at, at + max));
  return parts;
}

const baseline = measure(() => slice(2000).map((part) => Buffer.byteLength(part)));
console.log(`text of ${text.length} characters; baseline (slice and count bytes) ${baseline.toFixed(3)} ms`);
for (const [unit, max] of [
  ["utf16", 2000],
  ["utf16", 4096],
  ["bytes", 14_000],
  ["codepoints", 4000],
] as const) {
  const time = measure(() => splitText(text, { unit, max }));
  const parts = splitText(text, { unit, max }).length;
  console.log(
    `${unit} ${max}: ${time.toFixed(3)} ms for ${parts} parts, ${(time / baseline).toFixed(1)} × the baseline`,
  );
}
