import { fileMessage } from "@signalbox/testkit/feishu";
import { strToU8, zipSync } from "fflate";
import { expect, it } from "vitest";
import { exampleConfig, openWorld, taintIn, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

it("the text of a Word document reaches the model and taints the run", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script(() => ({ text: "好" }));
  const started = await world.start();
  const document = zipSync({
    "[Content_Types].xml": strToU8(
      `<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    ),
    "word/document.xml": strToU8(
      "<w:document><w:body><w:p><w:r><w:t>The budget is 4,200.</w:t></w:r></w:p></w:body></w:document>",
    ),
  });
  world.feishu.addResource("om_1", "file_1", Buffer.from(document), { mimeType: "application/octet-stream" });
  const sender = { senderId: ZHANG, chatId: "oc_direct", messageId: "om_1" };
  await started.post(fileMessage("file_1", "plan.docx", sender));
  await started.settled();
  const request = JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages);
  expect(request).toContain("The budget is 4,200.");
  expect(request).toContain("its text, without layout and pictures");
  expect(await taintIn(world)).toEqual(["file"]);
});
