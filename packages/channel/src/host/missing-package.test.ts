import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { missingPackage } from "../index.ts";

it("names the command for a package that is not installed, and nothing else", async () => {
  const byRequire = (() => {
    try {
      return createRequire(import.meta.url)("@nobody/has-this");
    } catch (error) {
      return error;
    }
  })();
  expect(missingPackage(byRequire, "@nobody/has-this")).toMatchObject({
    code: "unsupported",
    scope: "account",
    message: "The package @nobody/has-this is not installed. Add it with: npm install @nobody/has-this",
  });
  // What the package itself misses is no question of adding the package.
  expect(missingPackage(byRequire, "@somebody/else")).toBeUndefined();
  expect(missingPackage(new Error("broken"), "@nobody/has-this")).toBeUndefined();
});
