import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createGenerateImageTool, type GenerateImageToolOptions } from "../src/generate-image.ts";
import { createImageTool } from "../src/image.ts";
import { createMemoryLabelStore, openFileLabels, openWorkspace } from "../src/index.ts";
import { caller, textOf } from "./harness.ts";

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=", "base64");

async function world(generateImage: GenerateImageToolOptions["generateImage"] = async () => PIXEL) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "generate-image-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "SOUL.md"), "identity");
  const labels = await openFileLabels(createMemoryLabelStore());
  const workspace = await openWorkspace({ dir, labels });
  const look = createImageTool({ workspace, describeImage: async () => "a pixel" });
  return { dir, tools: [createGenerateImageTool({ workspace, generateImage }), look] };
}

it("stores the image, shows it to the model, and calls it an external effect", async () => {
  const asked: unknown[] = [];
  const { dir, tools } = await world(async (request) => {
    asked.push(request);
    return PIXEL;
  });
  expect(tools[0]?.effects).toBe("external");
  const result = await caller(tools).call("generate_image", {
    prompt: "a lamp",
    file_path: "images/lamp.png",
  });
  expect(textOf(result)).toContain("Stored images/lamp.png (image/gif, 1 × 1, 35 bytes).");
  expect(result.content[1]).toMatchObject({ type: "image", mimeType: "image/gif" });
  expect(readFileSync(join(dir, "images", "lamp.png"))).toEqual(PIXEL);
  expect(asked).toEqual([{ prompt: "a lamp", shape: "square" }]);
});

it("marks an image of a tainted run, so that seeing it taints another run", async () => {
  const { tools } = await world();
  const tainted = { taint: [{ source: "web" as const }] };
  await caller(tools, { facts: tainted }).call("generate_image", { prompt: "x", file_path: "a.png" });
  const later = caller(tools);
  await later.call("image", { file_path: "a.png" });
  expect(later.state.facts.taint).not.toEqual([]);
});

it.each(["../outside.png", "/etc/x.png", "SOUL.md", "a.svg", "a"])("writes nothing at %s", async (path) => {
  const { dir, tools } = await world();
  const result = await caller(tools).call("generate_image", { prompt: "x", file_path: path });
  expect(result.isError).toBe(true);
  expect(readFileSync(join(dir, "SOUL.md"), "utf8")).toBe("identity");
  expect(existsSync(join(dir, "..", "outside.png"))).toBe(false);
});

it("stores nothing if the service fails or returns something else than an image", async () => {
  const failing = await world(() => Promise.reject(new Error("the budget is used up")));
  const result = await caller(failing.tools).call("generate_image", { prompt: "x", file_path: "a.png" });
  expect(textOf(result)).toBe("The image could not be generated: the budget is used up");
  const html = await world(async () => Buffer.from("<html>"));
  expect(await caller(html.tools).call("generate_image", { prompt: "x", file_path: "a.png" })).toMatchObject({
    isError: true,
  });
  expect(existsSync(join(html.dir, "a.png"))).toBe(false);
});
