import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { createMissingPackageError } from "../index.ts";

it("names the install command if the package itself is missing, and ignores other errors", async () => {
  const byRequire = (() => {
    try {
      return createRequire(import.meta.url)("@nobody/has-this");
    } catch (error) {
      return error;
    }
  })();
  expect(createMissingPackageError(byRequire, "@nobody/has-this")).toMatchObject({
    code: "unsupported",
    scope: "account",
    message: "The package @nobody/has-this is not installed. Add it with: npm install @nobody/has-this",
  });
  // A dependency of the package is missing, so installing the package would not help.
  expect(createMissingPackageError(byRequire, "@somebody/else")).toBeUndefined();
  expect(createMissingPackageError(new Error("broken"), "@nobody/has-this")).toBeUndefined();
});
