import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));

async function sizeOf(name: string): Promise<number> {
  const bundle = await rolldown({
    input: "entry",
    platform: "node",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? id : undefined),
        load: (id) => (id === "entry" ? `export { ${name} } from ${JSON.stringify(built)};` : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output.reduce((sum, file) => sum + (file.type === "chunk" ? file.code.length : 0), 0);
}

it("a program that uses one function of the package bundles little more than that", async () => {
  expect(await sizeOf("isAgentError")).toBeLessThan(1_000);
  expect(await sizeOf("addUsage")).toBeLessThan(2_000);
  expect(await sizeOf("estimateTokens")).toBeLessThan(4_000);
  expect(await sizeOf("streamOf")).toBeLessThan(4_000);
  expect(await sizeOf("Agent")).toBeGreaterThan(20_000);
});
