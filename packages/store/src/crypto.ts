/** Node's, loaded when first used: with the import of the package it would be a quarter of its time and memory. */
export function crypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}
