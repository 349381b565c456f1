import { expect, it } from "vitest";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

it("text from a channel is normalized before it reaches the model", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } } }));
  world.script([{ text: "one" }, { text: "two" }]);
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("m1", "first\r\nline\0 \ud83d"));
  await started.settled();
  const taken = await started.gateway.service.submit({
    channel: "web",
    agent: "coder",
    conversation: "c",
    id: "w1",
    text: "second\rline \udc00",
  });
  if (taken.kind === "accepted") await taken.done;
  const [first, second] = modelRequests(world.anthropic).map(({ body }) => JSON.stringify(body));
  expect(first).toContain("first\\nline \ufffd");
  expect(second).toContain("second\\nline \ufffd");
});
