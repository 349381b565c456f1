import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locateHome, readConfig } from "@signalbox/home";
import { expect, it, onTestFinished } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { createGatewayTool } from "./gateway-tool.ts";

it("says of a change to JSON5 that it is made by hand", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-desk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, "signalbox.json5"),
    "{\n  // The port: as others know it.\n  gateway: { port: 4800 },\n}\n",
  );
  const home = locateHome(folder, {});
  const { config: settings } = readConfig(home, {});
  const tool = createGatewayTool(fakeContext({ home, env: {}, config: { current: () => ({ settings }) } }));
  await expect(tool.preview({ key: "gateway.port", value: 4900 })).rejects.toThrow(
    "is JSON5, whose comments would be lost. Edit it by hand, or convert it to YAML.",
  );
});
